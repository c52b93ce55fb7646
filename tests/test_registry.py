"""Registries: names, aliases, and errors that say what there is."""

import abc
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from rankopt.errors import SpecError
from rankopt.registry import Registry, part
from rankopt.spec import parse_spec


class Shape(abc.ABC):
    name: ClassVar[str]

    @abc.abstractmethod
    def area(self) -> float: ...


@dataclass(frozen=True)
class Square(Shape):
    name: ClassVar[str] = "square"
    side: float = 1.0
    k: int | None = None

    def area(self) -> float:
        return self.side**2


@dataclass(frozen=True)
class Disc(Shape):
    name: ClassVar[str] = "round-disc"
    radius: float
    colour: str = "red"

    def area(self) -> float:
        return 3.0 * self.radius**2

    def __post_init__(self) -> None:
        if isinstance(self.radius, str):
            raise TypeError("radius is text")


SHAPES: Registry[Shape] = Registry.of(
    "shape",
    Shape,
    {"Shape": Shape, "Square": Square, "Disc": Disc, "number": 3, "int": int},
    aliases={"disc": "round-disc", "box": "square"},
)


@dataclass(frozen=True)
class Frame:
    name: ClassVar[str] = "frame"
    inside: Any = part(Square(), SHAPES)
    width: float = 0.0


FRAMES: Registry[Frame] = Registry.of("frame", Frame, {"Frame": Frame})


def test_a_registry_collects_the_final_classes_of_a_namespace():
    assert list(SHAPES) == ["square", "round-disc"]
    assert SHAPES["square"] is Square


@pytest.mark.parametrize("name", ["round-disc", "Round-Disc", "disc", "DISC"])
def test_names_and_aliases_in_any_case(name):
    assert SHAPES[name] is Disc


@pytest.mark.parametrize(
    ("spec", "built"),
    [
        ("square", Square()),
        ("square@3", Square(k=3)),
        ("box(side=2)@3", Square(2, 3)),
        ("square(2)", Square(2)),
        ("square(k=3)", Square(k=3)),
        ("disc(0.5, blue)", Disc(0.5, "blue")),
        ("disc(radius=2, colour=none)", Disc(2, None)),
        (parse_spec("square@4"), Square(k=4)),
        (Square(7.0), Square(7.0)),
    ],
)
def test_a_text_builds_an_object(spec, built):
    assert SHAPES.build(spec) == built


def test_an_object_passes_through():
    shape = Square(3.0)
    assert SHAPES.build(shape, {"square": {"side": 5.0}}) is shape


def test_defaults_may_be_replaced_and_the_text_wins():
    defaults = {"square": {"side": 5.0, "k": 2}, "round-disc": {"radius": 1.0}}
    assert SHAPES.build("square", defaults) == Square(5.0, 2)
    assert SHAPES.build("box(side=3)@7", defaults) == Square(3, 7)
    assert SHAPES.build("disc", defaults) == Disc(1.0)
    assert defaults == {"square": {"side": 5.0, "k": 2}, "round-disc": {"radius": 1.0}}


def test_a_part_is_built_by_its_own_registry():
    assert FRAMES.build("frame(square(2)@5, width=1)") == Frame(Square(2, 5), 1)
    assert FRAMES.build("frame(inside=disc(1))") == Frame(Disc(1))
    assert FRAMES.build("frame", {"frame": {"width": 4}}) == Frame(width=4)
    assert FRAMES.build("frame(box)", {"square": {"side": 9.0}}) == Frame(Square(9.0))
    with pytest.raises(SpecError, match="unknown shape 'sqare'; did you mean 'square'"):
        FRAMES.build("frame(sqare)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sqare", "unknown shape 'sqare'; did you mean 'square'?"),
        ("discc", "unknown shape 'discc'; did you mean 'disc'?"),
        ("zzz", "unknown shape 'zzz'; known: square, round-disc"),
        ("square(sid=1)", "square: no parameter 'sid'; did you mean 'side'?"),
        ("disc(1, zzz=1)", "disc: no parameter 'zzz'; it has: radius, colour"),
        ("square(1, 2)", "square: takes at most 1 argument"),
        ("square(1, side=2)", "square: side is given twice"),
        ("square(k=1)@2", "square: k is given twice"),
        ("disc(1)@5", "disc has no cut-off: write 'disc' without '@5'"),
        ("disc", "disc: needs radius"),
        ("disc(colour=blue)", "disc: needs radius"),
        ("disc(word)", "disc: radius is text"),
    ],
)
def test_an_impossible_text_is_refused_with_a_way_out(text, message):
    with pytest.raises(SpecError) as caught:
        SHAPES.build(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("thing", [None, 3, ["square"], int])
def test_something_that_is_no_text_is_refused(thing):
    with pytest.raises(SpecError, match="shape: expected text such as 'square', got"):
        SHAPES.build(thing)

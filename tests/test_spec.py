"""Text specs: what prints also parses, and what cannot be read says where."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankopt.errors import SpecError
from rankopt.spec import Spec, format_spec, parse_spec, plain


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("ap", Spec("ap")),
        ("ndcg@10", Spec("ndcg", k=10)),
        (" ndcg ( gain = linear ) @ 10 ", Spec("ndcg", (), (("gain", Spec("linear")),), 10)),
        ("rbp(p=.8)", Spec("rbp", (), (("p", 0.8),))),
        ("rbp(p=8e-1)@3", Spec("rbp", (), (("p", 0.8),), 3)),
        ("f(-1, +2, 3.0, -inf)", Spec("f", (-1, 2, 3.0, -math.inf))),
        ("lambda(ndcg@10)", Spec("lambda", (Spec("ndcg", k=10),))),
        ("mean-ndcg", Spec("mean-ndcg")),
        ("plackett-luce(weight=inverse-rank)",
         Spec("plackett-luce", (), (("weight", Spec("inverse-rank")),))),
        ("f(relevant-from=2)", Spec("f", (), (("relevant_from", 2),))),
        ("ndcg(gain=[0, 1, 3.5])", Spec("ndcg", (), (("gain", (0, 1, 3.5)),))),
        ("f(a=[[1], []])", Spec("f", (), (("a", ((1,), ())),))),
        ("f('a, b', \"c)\")", Spec("f", ("a, b", "c)"))),
        ("approx(ap@5, alpha=10)", Spec("approx", (Spec("ap", k=5),), (("alpha", 10),))),
        ("f()", Spec("f")),
        ("f(g(h(1)))", Spec("f", (Spec("g", (Spec("h", (1,)),)),))),
        ("_private2", Spec("_private2")),
    ],
)  # fmt: skip
def test_texts_and_what_they_say(text, spec):
    parsed = parse_spec(text)
    assert parsed == spec
    assert [type(a) for a in parsed.args] == [type(a) for a in spec.args]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a name such as ndcg@10"),
        ("  ", "expected a name such as ndcg@10"),
        ("@5", "expected a name"),
        ("10", "expected a name"),
        ("ndcg(", "expected a value at ''"),
        ("ndcg(gain", "expected ',' at ''"),
        ("ndcg(gain=", "expected a value at ''"),
        ("ndcg)", r"expected the end at '\)'"),
        ("ndcg 10", "expected the end at '10'"),
        ("ndcg@10 map", "expected the end at 'map'"),
        ("ndcg@5@6", "expected the end at '@6'"),
        ("ndcg@", "a cut-off is a whole number from 1"),
        ("ndcg@0", "a cut-off is a whole number from 1"),
        ("ndcg@-1", "a cut-off is a whole number from 1"),
        ("ndcg@2.5", "a cut-off is a whole number from 1"),
        ("ndcg@1e3", "a cut-off is a whole number from 1"),
        ("ndcg@k", "a cut-off is a whole number from 1"),
        ("ndcg(gain=linear, 3)", "an argument without a name after a named one"),
        ("f(a=1, a=2)", "a is given twice"),
        ("f(a-b=1, a_b=2)", "a_b is given twice"),
        ("f(3=4)", "expected a name before '='"),
        ("f(g@3=4)", "expected a name before '='"),
        ("f([1, 2)", r"expected ',' at '\)'"),
        ("f(a=[1, 2", "expected ','"),
        ("f(a b)", "expected ',' at 'b"),
        ("f(a=$)", r"cannot read at '\$\)'"),
        ("f(a='open)", "cannot read at"),
        ("ndcg-@3", "cannot read at '-@3'"),
        ("ndcg;map", "cannot read at ';map'"),
        ("__import__('os').system('x')", "cannot read at .*system"),
    ],
)
def test_a_text_that_cannot_be_read_says_where(text, message):
    with pytest.raises(SpecError, match=message) as caught:
        parse_spec(text)
    assert repr(text) in str(caught.value)


names = st.from_regex(r"[A-Za-z_]\w{0,5}(-[A-Za-z]\w{0,3})?", fullmatch=True).filter(
    lambda name: name.isascii() and name.lower() not in ("inf", "none", "true", "false")
)
numbers = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False),
)
values = st.recursive(
    numbers | st.booleans() | st.none() | names,
    lambda children: st.lists(children, max_size=3).map(tuple),
    max_leaves=6,
)


@dataclass(frozen=True)
class Inner:
    name: ClassVar[str] = "inner"
    k: int | None = None
    a: Any = 1

    def __str__(self) -> str:
        return format_spec(self)


@dataclass(frozen=True)
class Outer:
    name: ClassVar[str] = "outer"
    part: Inner = Inner()
    text: Any = "plain"
    number: Any = 0.5


@given(values, numbers, st.none() | st.integers(1, 500))
def test_what_prints_also_parses(text, number, k):
    made = Outer(Inner(k, number), text, number)
    spec = parse_spec(format_spec(made))
    options = {key: plain(value) for key, value in spec.options}
    assert spec.name == "outer"
    assert options.get("text", "plain") == text
    assert options.get("number", 0.5) == number
    inner = spec.args[0] if spec.args else parse_spec("inner")
    assert (inner.k, dict(inner.options).get("a", 1)) == (k, number)


@given(st.text(max_size=30))
def test_any_text_parses_or_is_refused_with_one_line(text):
    try:
        said = repr(parse_spec(text))
    except SpecError as error:
        said = str(error)
    assert "\n" not in said


def test_defaults_are_not_printed_and_the_cut_off_comes_last():
    assert format_spec(Outer()) == "outer"
    assert format_spec(Outer(Inner(3, 2.0), number=4.0)) == "outer(inner(a=2)@3, number=4)"
    assert format_spec(Inner(7)) == "inner@7"
    assert format_spec(Outer(text=(1.0, 2.5, None, True))) == "outer(text=[1, 2.5, none, true])"


def test_bare_words_become_plain_values():
    spec = parse_spec("f(None, TRUE, false, word, [none, other], g(1))")
    assert [plain(v) for v in spec.args[:5]] == [None, True, False, "word", (None, "other")]
    assert plain(spec.args[5]) == Spec("g", (1,))

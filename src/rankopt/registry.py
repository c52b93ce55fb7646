"""Registries: short names and the final classes they stand for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, field, fields
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from rankopt.errors import RankoptError, SpecError
from rankopt.spec import Spec, parse_spec, plain

T = TypeVar("T")


class Registry(Generic[T]):
    """The final classes of one kind, by the `name` each carries.

    `Registry.of` collects them from a package's namespace, so the import line that exports a class
    also registers it. `aliases` are other spellings of a name.
    """

    def __init__(self, kind: str, base: type[T], aliases: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self.base = base
        self.aliases = dict(aliases or {})
        self.classes: dict[str, type[T]] = {}

    @classmethod
    def of(
        cls,
        kind: str,
        base: type[T],
        namespace: Mapping[str, Any],
        aliases: Mapping[str, str] | None = None,
    ) -> Registry[T]:
        registry = cls(kind, base, aliases)
        for value in namespace.values():
            if (
                isinstance(value, type)
                and issubclass(value, base)
                and not inspect.isabstract(value)
            ):
                registry.classes[value.name] = value  # pyright: ignore[reportAttributeAccessIssue]
        return registry

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    def __getitem__(self, name: str) -> type[T]:
        known = self.aliases.get(name.lower(), name.lower())
        if known not in self.classes:
            names = [*self.classes, *self.aliases]
            near = get_close_matches(name.lower(), names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self.classes)}"
            raise SpecError(f"unknown {self.kind} {name!r}; {hint}")
        return self.classes[known]

    def build(
        self, spec: T | str | Spec, defaults: Mapping[str, Mapping[str, Any]] | None = None
    ) -> T:
        """An object from its text; an object passes through.

        `defaults` holds other default values of parameters, by name of the class; what the text says
        explicitly wins.
        """
        if isinstance(spec, self.base):
            return spec
        if isinstance(spec, str):
            spec = parse_spec(spec)
        if not isinstance(spec, Spec):
            raise SpecError(
                f"{self.kind}: expected text such as {next(iter(self))!r}, got {spec!r}"
            )
        cls: Any = self[spec.name]
        names = {f.name: f for f in fields(cls) if f.repr}
        values: dict[str, Any] = dict((defaults or {}).get(cls.name, {}))
        positional = [name for name in names if name != "k"]
        if len(spec.args) > len(positional):
            raise SpecError(f"{spec.name}: takes at most {len(positional)} arguments")
        given = dict(zip(positional, spec.args, strict=False))
        for key, value in spec.options:
            if key not in names:
                near = get_close_matches(key, list(names), n=1)
                hint = (
                    f"did you mean {near[0]!r}?"
                    if near
                    else f"it has: {', '.join(names) or 'none'}"
                )
                raise SpecError(f"{spec.name}: no parameter {key!r}; {hint}")
            if key in given:
                raise SpecError(f"{spec.name}: {key} is given twice")
            given[key] = value
        if spec.k is not None:
            if "k" not in names:
                raise SpecError(
                    f"{spec.name} has no cut-off: write {spec.name!r} without '@{spec.k}'"
                )
            if "k" in given:
                raise SpecError(f"{spec.name}: k is given twice")
            given["k"] = spec.k
        for key, value in given.items():
            part = names[key].metadata.get("registry")
            values[key] = plain(value) if part is None else part.build(value, defaults)
        missing = [
            f.name
            for f in names.values()
            if f.default is MISSING and f.default_factory is MISSING and f.name not in values
        ]
        if missing:
            raise SpecError(f"{spec.name}: needs {', '.join(missing)}")
        try:
            return cls(**values)
        except RankoptError:
            raise
        except TypeError as error:
            raise SpecError(f"{spec.name}: {error}") from None


def part(default: Any, registry: Registry[Any]) -> Any:
    """A dataclass field that holds an object of another registry, as `measure` of an objective."""
    return field(default=default, metadata={"registry": registry})

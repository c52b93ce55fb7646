"""Text specs: ``ndcg(gain=linear)@10``, ``approx(ap, alpha=10)``; what prints also parses.

Grammar::

    spec   := name [ "(" [ value | key "=" value ] , ... ")" ] [ "@" whole number ]
    value  := number | "text" | "[" value , ... "]" | spec

Names may hold dashes and may be words that Python reserves (``lambda``), which is why this is a
small parser of its own and not Python's `ast`. Nothing is evaluated.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from typing import Any

from rankopt.errors import SpecError

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf\b))"
    r"|(?P<name>[A-Za-z_](?:[\w]|-(?=[A-Za-z]))*)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<sign>[()\[\],=@]))"
)
_WORDS = {"none": None, "true": True, "false": False}


@dataclass(frozen=True)
class Spec:
    """A parsed text spec: a name, positional and named arguments, and a cut-off."""

    name: str
    args: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    k: int | None = None


def parse_spec(text: str) -> Spec:
    """Parse a text spec.

    >>> parse_spec("rbp(p=0.8)@20")
    Spec(name='rbp', args=(), options=(('p', 0.8),), k=20)
    """
    parser = _Parser(text)
    spec = parser.spec()
    parser.expect("")
    return spec


def format_spec(value: Any) -> str:
    """The text spec of a frozen dataclass with a `name`: its fields that differ from the defaults.

    The field `k` is written as the cut-off; a field that is itself a spec stands without its name; one
    that no text can say, such as arrays, has ``repr=False`` and is left out.
    """
    parts: list[str] = []
    for field in fields(value):
        current = getattr(value, field.name)
        if field.name == "k" or not field.repr or _is_default(field, current):
            continue
        nested = hasattr(type(current), "name") and hasattr(current, "__dataclass_fields__")
        parts.append(str(current) if nested else f"{field.name}={_literal(current)}")
    arguments = f"({', '.join(parts)})" if parts else ""
    k = getattr(value, "k", None)
    return f"{value.name}{arguments}{'' if k is None else f'@{k}'}"


def _is_default(field: Any, current: Any) -> bool:
    if field.default is not MISSING:
        return bool(current == field.default)
    return field.default_factory is not MISSING and bool(current == field.default_factory())


def _literal(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_literal(v) for v in value)}]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> tuple[str, str, int]:
        """Kind, text and end of the next token; an empty text at the end."""
        if not self.text[self.at :].strip():
            return "end", "", len(self.text)
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise self.error("cannot read")
        return str(match.lastgroup), match.group(match.lastgroup or 0), match.end()

    def take(self) -> tuple[str, str]:
        kind, token, self.at = self.peek()
        return kind, token

    def expect(self, token: str) -> None:
        if self.peek()[1] != token:
            raise self.error(f"expected {token!r}" if token else "expected the end")
        self.take()

    def error(self, what: str) -> SpecError:
        return SpecError(f"{self.text!r}: {what} at {self.text[self.at :].strip()[:20]!r}")

    def spec(self) -> Spec:
        kind, name = self.take()
        if kind != "name":
            raise SpecError(f"{self.text!r}: expected a name such as ndcg@10")
        return self.rest(name)

    def rest(self, name: str) -> Spec:
        args: list[Any] = []
        options: list[tuple[str, Any]] = []
        if self.peek()[1] == "(":
            self.take()
            while self.peek()[1] != ")":
                self.argument(args, options)
                if self.peek()[1] != ")":
                    self.expect(",")
            self.take()
        k = None
        if self.peek()[1] == "@":
            self.take()
            kind, token = self.take()
            if kind != "number" or not token.isdigit() or int(token) < 1:
                raise SpecError(f"{self.text!r}: a cut-off is a whole number from 1, as in ndcg@10")
            k = int(token)
        return Spec(name, tuple(args), tuple(options), k)

    def argument(self, args: list[Any], options: list[tuple[str, Any]]) -> None:
        value = self.value()
        if self.peek()[1] != "=":
            if options:
                raise self.error("an argument without a name after a named one")
            args.append(value)
            return
        self.take()
        if not (isinstance(value, Spec) and value == Spec(value.name)):
            raise self.error("expected a name before '='")
        key = value.name.replace("-", "_")
        if any(key == known for known, _ in options):
            raise SpecError(f"{self.text!r}: {key} is given twice")
        options.append((key, self.value()))

    def value(self) -> Any:
        kind, token = self.take()
        if kind == "number":
            return int(token) if re.fullmatch(r"[-+]?\d+", token) else float(token)
        if kind == "text":
            return token[1:-1]
        if kind == "name":
            return self.rest(token)
        if token == "[":
            items: list[Any] = []
            while self.peek()[1] != "]":
                items.append(self.value())
                if self.peek()[1] != "]":
                    self.expect(",")
            self.take()
            return tuple(items)
        raise self.error("expected a value")


def plain(value: Any) -> Any:
    """A parsed value as a parameter: bare names are text, save for ``none``, ``true``, ``false``."""
    if isinstance(value, Spec) and value == Spec(value.name):
        return _WORDS.get(value.name.lower(), value.name)
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return value


def parse_settings(settings: list[str], owner: str, known: list[str]) -> dict[str, Any]:
    """Parameters from ``key=value`` texts; `known` are the names there are.

    >>> parse_settings(["restarts=5", "bounds=[0, none]"], "directrank", ["restarts", "bounds"])
    {'restarts': 5, 'bounds': (0, None)}
    """
    out: dict[str, Any] = {}
    for text in settings:
        key, sign, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not sign or not value.strip():
            raise SpecError(f"setting {text!r}: expected KEY=VALUE, as in restarts=5")
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(known)}"
            raise SpecError(f"{owner}: no parameter {key!r}; {hint}")
        out[key] = _setting(value)
    return out


def _setting(value: str) -> Any:
    """A value; what is no number, list or word is text as it stands, such as a nested spec."""
    parser = _Parser(value)
    try:
        parsed = parser.value()
        parser.expect("")
    except SpecError:
        return value.strip()
    parsed = plain(parsed)
    return value.strip() if isinstance(parsed, Spec) else parsed

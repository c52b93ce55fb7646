"""Universal Binary JSON, as XGBoost writes it: a reader that trusts nothing, and a writer."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.errors import ModelError

_DEEPEST = 64
_NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_CONSTANTS = {"T": True, "F": False, "Z": None}


def decoded(content: bytes) -> Any:
    """The value of a file; typed arrays become NumPy's, other ones lists."""
    reader = _Reader(content)
    value = reader.value(reader.letter(), 0)
    if reader.at != len(content):
        raise ModelError(f"has {len(content) - reader.at} bytes behind its end")
    return value


def encoded(value: Any) -> bytes:
    """A value as bytes, in the words that XGBoost chooses."""
    out = bytearray()
    _write(out, value)
    return bytes(out)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def take(self, size: int) -> bytes:
        if size < 0 or size > len(self.content) - self.at:
            raise ModelError("is cut short, or holds a wrong length")
        self.at += size
        return self.content[self.at - size : self.at]

    def letter(self) -> str:
        return chr(self.take(1)[0])

    def number(self, letter: str) -> Any:
        dtype = np.dtype(_NUMBERS[letter])
        return np.frombuffer(self.take(dtype.itemsize), dtype)[0]

    def length(self) -> int:
        letter = self.letter()
        if letter not in "iUIlL":
            raise ModelError("holds a length that is no whole number")
        return int(self.number(letter))

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8", errors="strict")

    def value(self, letter: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ModelError(f"is nested more than {_DEEPEST} deep")
        if letter in _CONSTANTS:
            return _CONSTANTS[letter]
        if letter in _NUMBERS:
            number = self.number(letter)
            return number if letter in "dD" else int(number)
        if letter in "SH":
            return self.text()
        if letter == "C":
            return self.letter()
        if letter == "[":
            return self.array(depth + 1)
        if letter == "{":
            return self.object(depth + 1)
        raise ModelError(f"holds a value of the unknown type {letter!r}")

    def array(self, depth: int) -> Any:
        kind, size = self.container()
        if kind is not None:
            assert size is not None
            if kind not in _NUMBERS:
                raise ModelError(f"holds an array of the unknown type {kind!r}")
            dtype = np.dtype(_NUMBERS[kind])
            return np.frombuffer(self.take(size * dtype.itemsize), dtype)
        if size is not None:
            return [self.value(self.letter(), depth) for _ in range(size)]
        out: list[Any] = []
        while (letter := self.letter()) != "]":
            out.append(self.value(letter, depth))
        return out

    def object(self, depth: int) -> dict[str, Any]:
        kind, size = self.container()
        if kind is not None:
            raise ModelError("holds an object of a single type")
        out: dict[str, Any] = {}
        while size is None or len(out) < size:
            if size is None and self.content[self.at : self.at + 1] == b"}":
                self.at += 1
                break
            key = self.text()
            if key in out:
                raise ModelError(f"holds the key {key[:40]!r} twice")
            out[key] = self.value(self.letter(), depth)
        return out

    def container(self) -> tuple[str | None, int | None]:
        """The type of all members and their number, where these stand first."""
        kind = None
        if self.content[self.at : self.at + 1] == b"$":
            self.at += 1
            kind = self.letter()
        if self.content[self.at : self.at + 1] != b"#":
            if kind is not None:
                raise ModelError("holds a typed array without a length")
            return None, None
        self.at += 1
        size = self.length()
        if not 0 <= size <= len(self.content) - self.at:
            raise ModelError("is cut short, or holds a wrong length")
        return kind, size


def _write(out: bytearray, value: Any) -> None:
    if value is None or isinstance(value, bool):
        out += b"Z" if value is None else b"T" if value else b"F"
    elif isinstance(value, np.ndarray):
        _write_array(out, value)
    elif isinstance(value, int):
        letter = next(k for k in "iIlL" if _fits(value, np.dtype(_NUMBERS[k])))
        out += letter.encode() + value.to_bytes(np.dtype(_NUMBERS[letter]).itemsize, signed=True)
    elif isinstance(value, (float, np.floating)):
        double = isinstance(value, float)  # NumPy's float64 is one, its float32 is not
        out += struct.pack(">cd" if double else ">cf", b"D" if double else b"d", value)
    elif isinstance(value, str):
        out += b"S"
        _write_text(out, value)
    elif isinstance(value, list):
        out += b"[#" + _length(len(value))
        for item in value:
            _write(out, item)
    elif isinstance(value, dict):
        out += b"{"
        for key, item in value.items():
            _write_text(out, key)
            _write(out, item)
        out += b"}"
    else:
        raise TypeError(f"no UBJSON for {type(value).__name__}")


def _write_array(out: bytearray, array: NDArray[Any]) -> None:
    dtype = array.dtype.newbyteorder(">") if array.dtype.itemsize > 1 else array.dtype
    letter = next(k for k, code in _NUMBERS.items() if np.dtype(code) == dtype)
    out += b"[$" + letter.encode() + b"#" + _length(array.size) + array.astype(dtype).tobytes()


def _write_text(out: bytearray, text: str) -> None:
    raw = text.encode()
    out += _length(len(raw)) + raw


def _length(size: int) -> bytes:
    return struct.pack(">cq", b"L", size)


def _fits(value: int, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= value <= int(limits.max)

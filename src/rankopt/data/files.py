"""Files: compressed ones opened by their content, written ones complete or absent."""

from __future__ import annotations

import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rankopt.errors import DataError

_UNSUPPORTED = {b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "zip"}


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed where its content is gzip or xz.

    Whatever keeps the file from being read, at once or inside the block, is one `DataError`.
    """
    try:
        with Path(path).open("rb") as raw:
            start = raw.read(6)
            raw.seek(0)
            for magic, kind in _UNSUPPORTED.items():
                if start.startswith(magic):
                    raise DataError(f"{path}: is compressed by {kind}; plain text, .gz and .xz are read")
            if start.startswith(b"\x1f\x8b"):
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked  # pyright: ignore[reportReturnType]
            elif start == b"\xfd7zXZ\x00":
                with lzma.LZMAFile(raw) as unpacked:
                    yield unpacked
            else:
                yield raw
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: the compressed file is damaged or cut short ({error})") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to, compressed where its name ends in .gz or .xz; complete or absent."""
    with replacing(path) as partial, partial.open("wb") as raw:
        name = os.fspath(path)
        if name.endswith(".gz"):
            # no name and no time inside, so that the same data gives the same file
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                yield packed  # pyright: ignore[reportReturnType]
        elif name.endswith(".xz"):
            with lzma.LZMAFile(raw, "wb") as packed:
                yield packed
        else:
            yield raw


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it on success and removed on any failure.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> with replacing(target) as partial:
    ...     _ = partial.write_text("1.0")
    >>> target.read_text()
    '1.0'
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)  # mkstemp's 0600 would keep others from reading a model
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise

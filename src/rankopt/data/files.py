"""Files: compressed ones opened by their content, written ones complete or absent."""

from __future__ import annotations

import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rankopt.errors import DataError

_UNSUPPORTED = {b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "zip"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file being read: its bytes, decompressed where it is gzip or xz."""

    stream: IO[bytes]
    raw: IO[bytes]
    size: int

    def progress(self) -> float:
        """The share of the file that has been read; 0 where that cannot be told, as of a pipe."""
        return self.raw.tell() / self.size if self.size else 0.0


@contextmanager
def reading(path: str | os.PathLike[str]) -> Generator[Source]:
    """Open a file by its content: plain, gzip or xz.

    Whatever keeps it from being read, at once or inside the block, is one `DataError`.
    """
    try:
        with Path(path).open("rb") as raw:
            start = raw.peek(6)
            size = os.fstat(raw.fileno()).st_size
            for magic, kind in _UNSUPPORTED.items():
                if start.startswith(magic):
                    raise DataError(
                        f"{path}: is compressed by {kind}; plain text, .gz and .xz are read"
                    )
            if start.startswith(b"\x1f\x8b"):
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield Source(cast(IO[bytes], unpacked), raw, size)
            elif start.startswith(b"\xfd7zXZ\x00"):
                with lzma.LZMAFile(raw) as unpacked:
                    yield Source(unpacked, raw, size)
            else:
                yield Source(raw, raw, size)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: the compressed file is damaged or cut short ({error})") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None


@contextmanager
def writing(path: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """A file to write, compressed where its name ends in .gz or .xz; complete or absent."""
    with replacing(path) as partial, partial.open("wb") as raw:
        name = os.fspath(path)
        if name.endswith(".gz"):
            # no name and no time inside, so that the same data gives the same file
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        elif name.endswith(".xz"):
            with lzma.LZMAFile(raw, "wb") as packed:
                yield packed
        else:
            yield raw


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Path]:
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

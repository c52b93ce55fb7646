"""Files that are complete or absent: written to a temporary name and renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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

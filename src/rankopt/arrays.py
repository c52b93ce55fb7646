"""Array types, and the conversions at the boundary between callers and kernels.

Kernels are compiled once per signature. So every array that reaches one is C-contiguous, writeable
and float64 or int64 (X alone may be float32): `as_floats` and `as_ints` see to it.
Arrays held by frozen values are not written to after construction; that is a convention of this
package and not a flag, because Numba compiles read-only arrays as a second signature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankopt.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Matrix = NDArray[np.float32] | NDArray[np.float64]


def as_floats(values: ArrayLike, name: str) -> Floats:
    """One-dimensional float64, contiguous and writeable; a copy only where that needs one."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: not numbers ({error})") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"{name}: expected one value per row, got an array of shape {array.shape}")
    return np.require(array, requirements=["C", "W"])


def as_dense(X: Any) -> Floats:
    """A dense or sparse matrix as a dense float64 one; no copy where it is."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


def without_blank_columns(matrix: Any) -> tuple[Any, Ints]:
    """The columns of a CSR matrix that have entries, and which these are."""
    from scipy.sparse import csr_array

    columns, places = np.unique(matrix.indices, return_inverse=True)
    shape = matrix.shape[0], columns.size
    return csr_array((matrix.data, places, matrix.indptr), shape), columns.astype(np.int64)


def as_ints(values: ArrayLike, name: str) -> Ints:
    """One-dimensional int64, contiguous and writeable; fractions are refused."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name}: expected one dimension, got an array of shape {array.shape}")
    if array.size and array.dtype.kind not in "iub" and not np.all(array == np.floor(array)):
        raise DataError(f"{name}: expected whole numbers")
    return np.require(array.astype(np.int64, copy=False), requirements=["C", "W"])


def require_finite(values: Floats, name: str, what: str = "row") -> Floats:
    """Refuse NaN and infinite values, naming the first one (counted from 1)."""
    finite = np.isfinite(values)
    if not finite.all():
        first = int(np.argmin(finite))
        raise DataError(
            f"{name}: {what} {first + 1} is {values[first]}; every value must be finite"
        )
    return values

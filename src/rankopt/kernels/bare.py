# pyright: basic
"""bare: compiles kernels that make no arrays, so that they count no references to them either.

Numba counts who holds an array, by an atomic instruction each time one is sliced or handed on in a tuple.
That is nothing beside a loop over all rows, but in what is called once for each query it takes longer than
the work itself.
"""

from numba import njit

bare = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)

# pyright: basic
"""bare: compiles kernels that make no arrays, so that they count no references to them either.

What a bare kernel calls is compiled as it is, unless it says otherwise: a kernel that makes arrays and
is called from a bare one is `counted`. (A kernel found in the cache compiles either way, so that only an
empty cache tells.)

Numba counts who holds an array, by an atomic instruction each time one is sliced or handed on in a tuple.
That is nothing beside a loop over all rows, but in what is called once for each query it takes longer than
the work itself.
"""

from numba import njit

bare = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
counted = njit(cache=True, nogil=True, error_model="numpy", _nrt=True)

# pyright: basic
"""Numbers to the bytes of LETOR / SVMlight text, each in the fewest decimals that read back as it.

A value is written as an integer below 2^53 over a power of ten if the reader's own division gives
the value again; whatever is not of that kind, the caller turns into text.
"""

import numpy as np
from numba import njit

AS_TEXT, AS_NAN, INFINITE = -1, -2, -3
MAX_DECIMALS = 17
WIDEST = 40  # bytes of the longest "<id>:<value>" and a blank

_POWERS = np.array([float(f"1e{i}") for i in range(MAX_DECIMALS + 1)])
_WHOLE_POWERS = np.array([10**i for i in range(MAX_DECIMALS + 1)], np.int64)
_LIMIT = float(1 << 53)


@njit(cache=True, nogil=True, error_model="numpy")
def count_decimals(values, mantissas, decimals):
    """Write for each value the integer and the number of decimals, or AS_TEXT, AS_NAN, INFINITE."""
    probe = np.empty(1, values.dtype)  # rounds as the array of the reader does
    for i in range(values.size):
        value = np.float64(values[i])
        mantissas[i] = 0
        decimals[i] = AS_TEXT
        if np.isnan(value):
            decimals[i] = AS_NAN
        elif np.isinf(value):
            decimals[i] = INFINITE
        else:
            for k in range(MAX_DECIMALS + 1):
                scaled = np.rint(abs(value) * _POWERS[k])
                if scaled >= _LIMIT:
                    break
                probe[0] = scaled / _POWERS[k]
                if probe[0] == abs(value):
                    mantissas[i] = np.int64(scaled)
                    decimals[i] = k
                    break


@njit(cache=True, nogil=True)
def _put_integer(out, p, number, width):
    """Write an integer in at least `width` digits; the position after it."""
    rest = number
    digits = 0
    while rest > 0 or digits < width:
        rest //= 10
        digits += 1
    for i in range(digits):
        out[p + digits - 1 - i] = 48 + number % 10
        number //= 10
    return p + digits


@njit(cache=True, nogil=True)
def write_features(stops, columns, values, mantissas, decimals, texts, sizes, out, ends):
    """Write `` <id>:<value>`` for the entries of each row, and where each row ends in `out`.

    `texts` and `sizes` hold the values that the caller turned into text, in order.
    """
    p = entry = text = 0
    for row in range(stops.size):
        while entry < stops[row]:
            out[p] = 32
            p = _put_integer(out, p + 1, columns[entry], 1)
            out[p] = 58
            p += 1
            if decimals[entry] < 0:
                for i in range(sizes[text]):
                    out[p + i] = texts[text, i]
                p += sizes[text]
                text += 1
            else:
                if np.signbit(values[entry]):
                    out[p] = 45
                    p += 1
                power = _WHOLE_POWERS[decimals[entry]]
                p = _put_integer(out, p, mantissas[entry] // power, 1)
                if decimals[entry] > 0:
                    out[p] = 46
                    p = _put_integer(out, p + 1, mantissas[entry] % power, decimals[entry])
            entry += 1
        ends[row] = p

# pyright: basic
"""Decimal numbers in bytes, to float64, with a word on how far the result can be trusted.

A mantissa below 2^53 and a power of ten up to 10^22 are both exact in float64, so that one division
or product gives the nearest float64: the same bits as ``float(token)``. Other numbers are computed
with an error below 3 units in the last place, or left to the caller.
"""

import numpy as np
from numba import njit

HASH, PLUS, MINUS, POINT, ZERO = 35, 43, 45, 46, 48
BLANK = 32  # every byte up to this one separates tokens

EXACT, CLOSE, OTHER = range(3)

ONE = np.uint64(1)
POWERS = np.array([float(f"1e{i}") for i in range(309)])
_DIGIT = np.uint8(ZERO)
_MAX_EXACT = 1 << 53
_MAX_DIGITS = 18  # of a mantissa in int64


@njit(cache=True, nogil=True)
def token_end(text, p):
    while text[p] > BLANK and text[p] != HASH:
        p += ONE
    return p


@njit(cache=True, nogil=True)
def digits(text, p, number):
    """Append the digits at p to a number; overflow is the caller's concern."""
    digit = text[p] ^ _DIGIT
    while digit < 10:
        number = number * 10 + np.int64(digit)
        p += ONE
        digit = text[p] ^ _DIGIT
    return number, p


@njit(cache=True, nogil=True)
def _mantissa(text, p):
    """The first significant digits of a number, and the power of ten they are to be taken by."""
    mantissa, exponent = np.int64(0), 0
    kept = length = points = 0
    cut = False
    while True:
        digit = text[p] ^ _DIGIT
        if digit < 10:
            length += 1
            if kept < _MAX_DIGITS:
                mantissa = mantissa * 10 + np.int64(digit)
                kept += mantissa > 0
                exponent -= points
            else:
                cut = cut or digit > 0
                exponent += 1 - points
        elif text[p] == POINT and points == 0:
            points = 1
        else:
            return mantissa, exponent, length, cut, p
        p += ONE


@njit(cache=True, nogil=True, error_model="numpy")
def number(text, start):
    """Any number: its value, how far to trust it, and the position after it."""
    p = start
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += ONE
    mantissa, exponent, length, cut, p = _mantissa(text, p)
    if length > 0 and (text[p] | 32) == 101:  # e or E
        p += ONE
        down = text[p] == MINUS
        if down or text[p] == PLUS:
            p += ONE
        first = p
        power, p = digits(text, p, np.int64(0))
        if p == first or p - first > np.uint64(4):
            return 0.0, OTHER, token_end(text, p)
        exponent += -power if down else power
    if length == 0 or (text[p] > BLANK and text[p] != HASH):
        return 0.0, OTHER, token_end(text, p)
    trust = EXACT if mantissa < _MAX_EXACT and abs(exponent) <= 22 and not cut else CLOSE
    if mantissa == 0:
        value, trust = 0.0, EXACT
    elif abs(exponent) > 280:  # near the ends of float64 the error bound does not hold
        return 0.0, OTHER, p
    elif exponent < 0:
        value = np.float64(mantissa) / POWERS[-exponent]
    else:
        value = np.float64(mantissa) * POWERS[exponent]
    return -value if negative else value, trust, p

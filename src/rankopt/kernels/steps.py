# pyright: basic
"""Smooth steps from 0 to 1: logistic, arctangent and error function, with their derivatives."""

import math

from numba import njit

from rankopt.kernels.exponential import decay

LOGISTIC, ARCTAN, ERF = 0, 1, 2


@njit(cache=True, nogil=True, error_model="numpy")
def step(z, curve):
    """The step at z, one minus it (without cancellation), and the derivative."""
    if curve == ARCTAN:
        up = math.atan2(1.0, -z) / math.pi
        return up, math.atan2(1.0, z) / math.pi, 1.0 / (math.pi * (1.0 + z * z))
    if curve == ERF:
        up = 0.5 * math.erfc(-z)
        return up, 0.5 * math.erfc(z), decay(z * z) / math.sqrt(math.pi)
    e = decay(abs(z))
    high = 1.0 / (1.0 + e)
    low = e * high
    return (high if z >= 0.0 else low), (low if z >= 0.0 else high), high * low

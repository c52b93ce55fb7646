"""Randomness: a seed becomes one generator at the boundary; below, the generator is an argument."""

from __future__ import annotations

import numpy as np

from rankopt.errors import SpecError


def as_generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    """A generator from a seed, a generator (used as it is), a RandomState or None (fresh entropy)."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise SpecError(
            f"random_state: {random_state!r} is no seed; a whole number from 0 is one"
        ) from None

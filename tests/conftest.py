"""Fixtures and settings shared by all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Matrices of tests are tiny: threads of BLAS cost more than they bring, above all on a busy machine.
# NumPy and SciPy read this when they are first imported, after this file.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session", autouse=True)
def _seeded() -> Iterator[None]:
    """What draws without a seed draws the same in every run, so that a failure repeats."""
    import numpy as np

    fresh = np.random.default_rng
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            np.random, "default_rng", lambda seed=None: fresh(0 if seed is None else seed)
        )
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public ranking data, which the project does not ship."""
    folder = os.environ.get("RANKOPT_DATA")
    if not folder:
        pytest.skip(
            "RANKOPT_DATA is not set: tests on real ranking data need the shared data folder"
        )
    return Path(folder)

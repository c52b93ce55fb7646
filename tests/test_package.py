"""The package as a whole: quick to import, one version, a quick command line."""

import importlib.metadata
import json
import subprocess
import sys

import pytest

import rankopt

HEAVY = ["lightgbm", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn"]


def loaded_after(code: str) -> list[str]:
    """The heavy packages that a fresh interpreter holds after running some code."""
    report = f"import json, sys; print(json.dumps([n for n in {HEAVY!r} if n in sys.modules]))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, check=True, text=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def test_heavy_packages_are_found_where_they_are_loaded():
    assert loaded_after("import scipy") == ["numpy", "scipy"]


def test_import_is_light():
    assert loaded_after("import rankopt") == []


@pytest.mark.parametrize("words", [["--help"], ["evaluate", "--help"], ["compare", "--help"]])
def test_help_is_light(words):
    code = (
        "import sys\n"
        "from rankopt.cli.main import main\n"
        f"sys.argv = ['rankopt', *{words!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
    )
    assert loaded_after(code) == []


def test_the_version_is_that_of_the_installed_package():
    assert rankopt.__version__ == importlib.metadata.version("rankopt")


def test_every_public_name_can_be_loaded():
    names = [name for name in dir(rankopt) if not name.startswith("_")]
    assert "evaluate" in names
    for name in names:
        assert getattr(rankopt, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'evalaute'"):
        rankopt.evalaute  # noqa: B018

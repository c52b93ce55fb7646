"""Every script in examples/ runs in an empty folder, without warnings, and prints something."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_an_example_runs(script, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout

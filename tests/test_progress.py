"""Progress: silent when quick or asked to be, and on standard error only."""

import sys

import pytest

from rankopt import progress as module
from rankopt.progress import progress


@pytest.fixture
def patient(monkeypatch):
    """As if two seconds had passed at once, and ten between any two calls."""
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    monkeypatch.setattr(module, "_PAUSE", 0.0)


def test_quick_work_shows_nothing(capsys):
    with progress("work", 3) as advance:
        for _ in range(3):
            advance("done")
    assert capsys.readouterr() == ("", "")


def test_silence_is_kept(patient, capsys):
    with progress("work", 3, verbose=False) as advance:
        advance("done")
    assert capsys.readouterr() == ("", "")


def test_lines_without_a_terminal(patient, capsys):
    with progress("work", 3) as advance:
        advance("train 0.5")
        advance("train 0.6")
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(", ")[0] for line in err.splitlines()] == ["work: 1/3", "work: 2/3"]
    assert err.splitlines()[1].endswith("train 0.6")


def test_a_bar_on_a_terminal(patient, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress("work", 2) as advance:
        advance("train 0.5")
        advance("train 0.6")
    out, err = capsys.readouterr()
    assert out == ""
    assert "work" in err

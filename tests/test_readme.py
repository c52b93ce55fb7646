"""The Python of README.md and of the documentation runs, and prints what the page says it prints.

The Python blocks of one page are one program. A ``text`` block right after one of them is what that
block prints.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"^```python\n(.*?)^```\n(?:\n*^```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE
)


def programs() -> dict[str, list[tuple[str, str]]]:
    """The blocks of each page that has any: code and the output it promises ('' for no promise)."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = {str(p.relative_to(ROOT)): BLOCK.findall(p.read_text(encoding="utf-8")) for p in pages}
    return {name: blocks for name, blocks in found.items() if blocks}


PROGRAMS = programs()


def test_the_readme_shows_python():
    assert "README.md" in PROGRAMS


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for code, promised in PROGRAMS[page]:
        exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out
        if promised:
            assert printed.split() == promised.split(), f"{page} prints:\n{printed}"

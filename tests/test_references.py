"""Every citation in a docstring or a page has its entry in docs/references.bib, and only one."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = re.findall(
    r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text("utf-8"), re.MULTILINE
)


def cited(folder: str, pattern: str, key: str) -> dict[str, str]:
    """Keys and one place where each is cited."""
    places = {}
    for path in sorted((ROOT / folder).rglob(pattern)):
        for found in re.findall(key, path.read_text("utf-8")):
            places[found] = str(path.relative_to(ROOT))
    return places


def test_entries_are_unique():
    assert len(ENTRIES) == len(set(ENTRIES)) > 0


def test_every_citation_has_an_entry():
    places = cited("src", "*.py", r"\[([a-z]+\d{4}\w*)\]_")
    places |= cited("docs", "*.md", r"\{cite:p\}`(\w+)`")
    assert {key: place for key, place in places.items() if key not in ENTRIES} == {}
    assert "jarvelin2002cumulated" in places

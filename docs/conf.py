"""Configuration of Sphinx: pages in Markdown, and a reference generated from the package."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import reference

project = "rankopt"
copyright = "2026, The rankopt developers"  # noqa: A001
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
    "mathml",
]
html_theme = "furo"
html_title = "rankopt"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
default_role = "literal"
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = ["Definition"]

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

_PARAMETER = re.compile(r"^(\w[\w, ]*?) : (.+)$")
_CITATION = re.compile(r"\[([a-z]+\d{4}\w*)\]_")


def house_docstrings(app, what, name, obj, options, lines):
    """Bring docstrings of the house style into the form that Sphinx reads.

    ``name : what it is`` is a description here, where numpydoc expects a type; ``[key]_`` cites
    docs/references.bib.
    """
    inside, out = False, []
    for line in lines:
        if line.strip() and set(line.strip()) == {"-"} and out:
            inside = out[-1].strip() in {"Parameters", "Attributes"}
        match = _PARAMETER.match(line) if inside else None
        parts = [match[1], f"    {match[2]}"] if match else [line]
        out.extend(_CITATION.sub(r":cite:p:`\1`", part) for part in parts)
    lines[:] = out


def skip_foreign_members(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn adds to every estimator for routing metadata."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    # Before napoleon, which listens with the usual priority of 500.
    app.connect("autodoc-process-docstring", house_docstrings, priority=400)
    app.connect("autodoc-skip-member", skip_foreign_members)
    reference.write(Path(app.srcdir) / "reference")

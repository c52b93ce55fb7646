"""The check of import layers: it catches what it is there for, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = [["errors", "arrays"], ["kernels"], ["measures"], ["scorers", "objectives"], ["cli"]]
APART = [["scorers", "objectives"]]


def _load():
    spec = importlib.util.spec_from_file_location("layers", ROOT / "tools" / "layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layers = _load()


def faults(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = folder / "src" / "rankopt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return layers.faults(folder / "src", ORDER, APART)


@pytest.mark.parametrize(
    "statement",
    [
        "import numpy as np",
        "from rankopt.errors import DataError",
        "from rankopt import errors, arrays",
        "from .base import Measure",
        "from . import base",
        "from rankopt.measures.base import Measure",
        "import rankopt.kernels.order",
    ],
)
def test_imports_downwards_and_inside_a_part_are_allowed(tmp_path, statement):
    assert faults(tmp_path, {"measures/dcg.py": statement}) == []


@pytest.mark.parametrize(
    "statement",
    [
        "from rankopt.cli.main import app",
        "import rankopt.cli.main",
        "from rankopt import cli",
        "from ..cli import main",
        "def late():\n    from rankopt.cli import main\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rankopt.cli import main\n",
    ],
)
def test_an_import_upwards_is_caught_wherever_it_stands(tmp_path, statement):
    (found,) = faults(tmp_path, {"measures/dcg.py": statement})
    assert found.startswith("src/rankopt/measures/dcg.py:")
    assert "'measures' lies below 'cli'" in found


def test_parts_kept_apart_must_not_import_each_other(tmp_path):
    (found,) = faults(tmp_path, {"scorers/linear.py": "from rankopt.objectives import base\n"})
    assert "'scorers' and 'objectives' must not know each other" in found


@pytest.mark.parametrize(
    ("statement", "name"), [("import rankopt", "rankopt"), ("from rankopt import NDCG", "NDCG")]
)
def test_inside_the_package_the_root_is_not_a_source_of_names(tmp_path, statement, name):
    (found,) = faults(tmp_path, {"measures/dcg.py": statement})
    assert f"'measures' lies below '{name}'" in found


def test_a_part_in_no_layer_is_reported(tmp_path):
    files = {"novelty.py": "", "measures/dcg.py": "from rankopt.novelty import new\n"}
    upwards, missing = faults(tmp_path, files)
    assert "'measures' lies below 'novelty'" in upwards
    assert missing == "src/rankopt/novelty.py: 'novelty' is in no layer"


def test_the_root_package_and_the_top_layer_may_import_everything(tmp_path):
    root = "from rankopt.cli import main\nfrom rankopt.errors import DataError\n"
    top = "import rankopt\nfrom rankopt import NDCG\nfrom rankopt.measures import dcg\n"
    assert faults(tmp_path, {"__init__.py": root, "cli/main.py": top}) == []


def test_the_package_itself_keeps_its_layers(capsys):
    assert layers.main() == 0, capsys.readouterr().out

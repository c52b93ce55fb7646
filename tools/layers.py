"""Check that imports inside rankopt point one way, along the layers named in pyproject.toml.

Imports inside functions and under TYPE_CHECKING count too: they hide a dependency, they do not
remove it. Prints one line per fault; the exit status is 1 where there is any.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "rankopt"
ROOT = Path(__file__).resolve().parent.parent


def imported(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and full name of every import; `package` is what relative imports start from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = package.split(".")
            base = here[: len(here) + 1 - node.level] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            if source == PACKAGE:  # `from rankopt import errors` names parts of the package
                yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, source


def fault(source: str, target: str, order: list[list[str]], apart: list[list[str]]) -> str | None:
    """Why part `source` must not import part `target`, or None where it may.

    The root package re-exports from everywhere, so it belongs to the top.
    """
    level = {part: i for i, parts in enumerate(order) for part in parts}
    top = len(order) - 1
    if level.get(target, top) > level.get(source, top):
        return f"'{source}' lies below '{target}' and must not know it"
    if source != target and any({source, target} <= set(parts) for parts in apart):
        return f"'{source}' and '{target}' must not know each other"
    return None


def faults(src: Path, order: list[list[str]], apart: list[list[str]]) -> list[str]:
    """One line per import that points the wrong way, and per module that is in no layer."""
    found: list[str] = []
    for path in sorted((src / PACKAGE).rglob("*.py")):
        module = path.relative_to(src).with_suffix("").parts
        source = PACKAGE if module[1] in {"__init__", "__main__"} else module[1]
        if source != PACKAGE and not any(source in parts for parts in order):
            found.append(f"{path.relative_to(src.parent)}: '{source}' is in no layer")
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in sorted(imported(tree, ".".join(module[:-1]))):
            parts = name.split(".")
            if parts[0] != PACKAGE:
                continue
            target = parts[1] if len(parts) > 1 else PACKAGE
            reason = fault(source, target, order, apart)
            if reason is not None:
                found.append(f"{path.relative_to(src.parent)}:{line}: imports {name}: {reason}")
    return found


def main() -> int:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][PACKAGE]
    found = faults(ROOT / "src", layers["layers"]["order"], layers["layers"]["apart"])
    print("\n".join(found) if found else "Imports point one way.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

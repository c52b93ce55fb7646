"""Write the pages of docs/reference from the package's registries and public names.

A registered part or a public name is documented by existing: nothing is listed by hand.
"""

import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import rankopt

# Package, name of its registry, title. Registries that do not exist yet are left out.
REGISTRIES = [
    ("measures", "MEASURES", "Measures"),
    ("objectives", "OBJECTIVES", "Objectives"),
    ("scorers", "SCORERS", "Scorers"),
    ("solvers", "SOLVERS", "Solvers"),
]


def heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def path_of(thing) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def registry_page(package: str, registry_name: str, title: str) -> str | None:
    """One section per registered class, under its name in text specs."""
    if importlib.util.find_spec(f"rankopt.{package}") is None:
        return None
    registry = getattr(importlib.import_module(f"rankopt.{package}"), registry_name, None)
    if registry is None:
        return None
    page = heading(title)
    for name in registry:
        aliases = [f"``{alias}``" for alias, known in registry.aliases.items() if known == name]
        page += heading(f"``{name}``", "-")
        page += f"Also written {', '.join(aliases)}.\n\n" if aliases else ""
        page += f".. autoclass:: {path_of(registry[name])}\n\n"
    return page


def conventions_page() -> str:
    """A table of the named conventions."""
    from rankopt.measures import CONVENTIONS

    page = heading("Conventions")
    page += ".. list-table::\n   :header-rows: 1\n\n"
    page += "   * - name\n     - ties\n     - blank queries\n     - parameters of measures\n"
    for convention in CONVENTIONS.values():
        settings = "; ".join(
            f"{measure}: " + ", ".join(f"{key}={value}" for key, value in values.items())
            for measure, values in convention.defaults.items()
        )
        page += f"   * - ``{convention.name}``\n     - {convention.ties}\n"
        page += f"     - {convention.blank}\n     - {settings or 'as in rankopt'}\n"
    return page + f"\n.. autoclass:: {path_of(type(convention))}\n"


def python_page() -> str:
    """Every public name of the root package that is a function or a class."""
    page = heading("Python")
    page += ".. py:module:: rankopt\n\n"
    for name in sorted(dir(rankopt), key=str.lower):
        thing = None if name.startswith("_") else getattr(rankopt, name)
        if inspect.isclass(thing):
            page += f".. autoclass:: {path_of(thing)}\n   :members:\n\n"
        elif inspect.isfunction(thing):
            page += f".. autofunction:: {path_of(thing)}\n\n"
    return page


def command_line_page() -> str:
    """What ``rankopt --help`` and the help of each command print."""
    from typer.main import get_command

    from rankopt.cli.main import app

    page = heading("Command line")
    environment = {**os.environ, "COLUMNS": "92", "NO_COLOR": "1", "TERM": "dumb"}
    for command in [[], *([name] for name in get_command(app).commands)]:
        words = [*command, "--help"]
        printed = subprocess.run(
            [Path(sys.executable).with_name("rankopt"), *words],
            capture_output=True,
            check=True,
            env=environment,
            text=True,
        ).stdout
        page += heading(f"``{' '.join(['rankopt', *command])}``", "-") + "::\n\n"
        page += "".join(f"   {line.rstrip()}\n" for line in printed.strip().splitlines()) + "\n"
    return page


def write(folder: Path) -> None:
    """Write all pages; Sphinx need not read again a page that has not changed."""
    pages = {"python": python_page(), "command-line": command_line_page()}
    for package, registry_name, title in REGISTRIES:
        page = registry_page(package, registry_name, title)
        if page is not None:
            pages[package] = page
    pages["conventions"] = conventions_page()
    pages["index"] = heading("Reference") + ".. toctree::\n\n"
    pages["index"] += "".join(f"   {name}\n" for name in pages if name != "index")
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

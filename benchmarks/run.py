"""Run the benchmarks one after the other, each in a process of its own, and keep what they report.

    python benchmarks/run.py                     all of them
    python benchmarks/run.py reading evaluation  some of them

A benchmark is a script in this folder with ``main(argv)``. With ``--json`` it prints one JSON
object on standard output and its progress on standard error. Times are CPU times against named
baselines measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rankopt.bench.setting import setting

HERE = Path(__file__).resolve().parent


def benchmarks() -> list[str]:
    """Names of the benchmarks: the scripts beside this one that know ``--json``."""
    scripts = (path for path in sorted(HERE.glob("*.py")) if path != Path(__file__).resolve())
    return [path.stem for path in scripts if '"--json"' in path.read_text(encoding="utf-8")]


def run(name: str) -> Any | None:
    """The JSON that a benchmark prints, or None where it failed."""
    done = subprocess.run(
        [sys.executable, str(HERE / f"{name}.py"), "--json"],
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(benchmarks())}")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the JSON")
    asked = parser.parse_args(argv)
    unknown = sorted(set(asked.names) - set(benchmarks()))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(benchmarks())}")
    asked.out.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    for name in asked.names or benchmarks():
        print(f"== {name}", flush=True)
        result = run(name)
        if result is None:
            failed.append(name)
            continue
        text = json.dumps({"benchmark": name, "setting": setting(), "result": result}, indent=1)
        (asked.out / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(json.dumps(result, indent=1))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

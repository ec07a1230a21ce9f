"""``python -m checks.floors``: no file uses what the oldest Python that it must run on has not."""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from checks import patch_levels, pythons
from checks.pythons import ROOT, Version

SECONDS = 300


def problems(floors: dict[Path, Version]) -> list[str]:
    """What is too new for its file: vermin finds new minor versions' things, our own list those of patch releases."""
    found = []
    by_floor = defaultdict(list)
    for path, floor in sorted(floors.items()):
        by_floor[floor].append(path)
        for line, name, first in patch_levels.too_new(path.read_text(), floor):
            found.append(
                f"{_shown(path)}:{line}: {name} came with Python {pythons.written(first)}; "
                f"this file must run on {pythons.written(floor)}"
            )
    for floor, paths in by_floor.items():
        found += _vermin(floor, paths)
    return found


def _vermin(floor: Version, paths: list[Path]) -> list[str]:
    """What it calls a violation of the floor."""
    target = pythons.written(floor[:2])
    command = [
        sys.executable,
        "-c",
        "import vermin; vermin.main()",
        f"-t={target}-",
        "--no-tips",
        "--eval-annotations",
        "--no-parse-comments",
    ]
    done = subprocess.run(
        [*command, "--violations", "--format", "parsable", *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode == 0:
        return []
    # "file:line:column:2.x:3.x:feature": a line without a number is about the whole file, "!3" is Python 2's alone.
    lines = [line.split(":", 5) for line in done.stdout.splitlines() if line.count(":") >= 5]
    told = [
        f"{_shown(Path(path))}:{number}: {feature} came with Python {first}; this file must run on {target}"
        for path, number, _column, _, first, feature in lines
        if number and first != "!3"
    ]
    return told if lines else [f"vermin failed for Python {target}: {done.stdout}{done.stderr}"]


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def main() -> int:
    """The exit status: 1 when something is too new."""
    floors = pythons.floors(pythons.areas())
    found = problems(floors)
    for problem in found:
        print(problem)
    oldest = " or ".join(pythons.written(floor) for floor in sorted(set(floors.values())))
    print(f"{len(floors)} files for Python {oldest}: {len(found)} problems (docs/pythons.md says what runs where)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

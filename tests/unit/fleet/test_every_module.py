"""The core is imported by containers with Python 3.10 and nothing installed: all of it can be."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_whole_core_is_imported_with_the_standard_library_alone() -> None:
    files = sorted((ROOT / "fleet").rglob("*.py"))
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]
    program = "import sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)"

    ended = subprocess.run(
        [sys.executable, "-S", "-c", program, *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert len(modules) > 100
    assert (ended.returncode, ended.stderr) == (0, "")

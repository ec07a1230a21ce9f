"""A fleet is compiled once for all that is deployed of it, and handed on as its plan."""

import ast
from pathlib import Path

from tests.support.templates import PROJECT_FOLDER

COMPILERS = {"compile_fleet", "fleet_spec", "ladder"}


def _imported(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}


def test_no_stack_and_no_dashboard_compiles_a_fleet_itself() -> None:
    files = [path for room in ("stacks", "dashboards") for path in (PROJECT_FOLDER / room).rglob("*.py")]

    assert {str(path): found for path in files if (found := _imported(path) & COMPILERS)} == {}


def test_the_platform_alone_asks_for_the_plans_of_an_environment() -> None:
    files = (PROJECT_FOLDER / "stacks").rglob("*.py")

    assert [path.name for path in files if "launch_plans" in _imported(path)] == ["platform.py"]

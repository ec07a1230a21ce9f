"""Nothing is used that an old Python lacks, and every place that names a Python names the same."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from checks import floors, patch_levels, pythons
from checks.pythons import ROOT, Area
from tests.support.needs import NODE_PYTHONS

AREAS = {area.name: area for area in pythons.areas()}
OLDEST = pythons.written(AREAS["everything"].oldest[:2])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("archive.extract(member, folder, filter='data')", [(1, "extract(filter=...)", (3, 11, 4))]),
        ("\narchive.extractall(filter='data')", [(2, "extractall(filter=...)", (3, 11, 4))]),
        ("from tarfile import data_filter", [(1, "data_filter", (3, 11, 4))]),
        ("os.path.realpath(name, strict=os.path.ALLOW_MISSING)", [(1, "ALLOW_MISSING", (3, 11, 13))]),
        ("if email.utils.supports_strict_parsing: pass", [(1, "supports_strict_parsing", (3, 11, 10))]),
        ("HTMLParser(scripting=True)", [(1, "HTMLParser(scripting=...)", (3, 11, 15))]),
        ("policy.clone(verify_generated_headers=False)", [(1, "clone(verify_generated_headers=...)", (3, 11, 10))]),
        ("archive.extract(member, folder)\nhttp.extract(filter)", []),
    ],
)
def test_what_came_with_a_patch_release_is_found(source: str, said: list[object]) -> None:
    assert list(patch_levels.too_new(source, (3, 11, 0))) == said
    assert list(patch_levels.too_new(source, (3, 12, 0))) == []


def test_vermin_refuses_what_came_with_a_minor_release(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("from datetime import UTC\nfrom enum import StrEnum\nprint(UTC, StrEnum)\n")

    (first, second) = floors.problems({file: (3, 10, 0)})

    assert "module.py:1: 'datetime.UTC' member came with Python 3.11; this file must run on 3.10" in first
    assert "StrEnum" in second
    assert floors.problems({file: (3, 11, 0)}) == []


def test_what_a_container_imports_has_the_floor_of_containers() -> None:
    found = pythons.floors(AREAS.values())

    assert found[ROOT / "workload/compile_cache/tiers/packing.py"] == (3, 10, 0)
    assert found[ROOT / "fleet/string_enum.py"] == (3, 10, 0)
    assert found[ROOT / "fleet/node_state.py"] == (3, 10, 0)
    assert found[ROOT / "agents/main.py"] == (3, 11, 0)


def test_a_container_needs_the_standard_library_and_boto3_in_adapters() -> None:
    """Imported with nothing but this tree; adapters alone may ask for more."""
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in sorted((ROOT / "workload").rglob("*.py"))
        if path.name not in {"adapters.py", "__main__.py", "__init__.py"}
    ]
    told = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", told, *modules], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr == ""


def test_every_place_names_the_same_pythons() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    makefile = (ROOT / "Makefile").read_text()
    minor = int(OLDEST.split(".")[1])
    nodes, lambdas = AREAS["nodes"], AREAS["lambdas"]

    assert project["project"]["requires-python"] == f">={OLDEST}"
    assert project["tool"]["ruff"]["target-version"] == "py" + OLDEST.replace(".", "")
    assert project["tool"]["mypy"]["python_version"] == OLDEST
    assert f"sys.version_info < (3, {minor})" in makefile
    assert f"Python {OLDEST} or newer" in makefile
    assert f"Python {OLDEST} or newer" in (ROOT / "README.md").read_text()
    of_nodes = [f"3.{number}" for number in range(nodes.oldest[1], nodes.newest[1] + 1)]
    assert f"AGENT_PYTHONS := {' '.join(of_nodes)}\n" in makefile
    assert (nodes.oldest[:2], nodes.newest) == NODE_PYTHONS
    runtime = f"Runtime.PYTHON_{pythons.written(lambdas.newest).replace('.', '_')}"
    sources = "".join(path.read_text() for path in (ROOT / "stacks").rglob("*.py"))
    named = set(re.findall(r"Runtime\.PYTHON_\w+", sources))
    assert named == {runtime}
    assert f"--python-version {pythons.written(lambdas.newest)} " in makefile


@pytest.mark.parametrize("area", AREAS.values(), ids=AREAS)
def test_the_docs_list_every_area(area: Area) -> None:
    code = ", ".join(f"`{package}`" for package in area.packages)
    row = f"| {area.where} | {code} | {pythons.written(area.oldest)} | {pythons.written(area.newest)} |"
    assert row in (ROOT / "docs/pythons.md").read_text().splitlines()


def test_every_package_of_the_project_is_in_an_area() -> None:
    tops = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert tops == set(AREAS["everything"].packages)

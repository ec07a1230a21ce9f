"""What is deployed is what is imported: it works alone, and an edit of anything else deploys nothing."""

import importlib
import io
import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from stacks.agent_archive import archive
from stacks.constructs.python_function import function_code
from stacks.imported_code import ROOT, UnknownImportError, imported_files
from tests.support.templates import templates

HANDLERS = sorted(
    f"lambdas.{path.parent.name}.handler.lambda_handler" for path in (ROOT / "lambdas").glob("*/handler.py")
)
# In a folder with nothing beside the code, and without the checkout on the path.
IMPORT = """
import importlib, json, sys
sys.path[:] = [path for path in sys.path if path not in ("", {root!r})] + [{packages!r}]
for folder, names in json.load(sys.stdin).items():
    sys.path.insert(0, folder)
    for name in names:
        module = importlib.import_module(name)
        assert module.__file__.startswith(folder), module.__file__
    sys.path.remove(folder)
    for name in [each for each in sys.modules if each.partition(".")[0] in ("fleet", "lambdas", "agents")]:
        del sys.modules[name]
"""


def unpacked(content: bytes, folder: Path) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        packed.extractall(folder)
    return str(folder)


def test_every_function_and_every_module_of_the_agent_is_imported_from_its_own_asset(tmp_path: Path) -> None:
    wanted = {
        unpacked(function_code(handler), tmp_path / handler): [handler.rpartition(".")[0]] for handler in HANDLERS
    }
    modules = [
        ".".join(Path(name).with_suffix("").parts) for name in archive.code().files if name.endswith(".py")
    ]  # fmt: skip
    # A program that does its work at once is started by the agent's own tests.
    wanted[unpacked(archive.pack(archive.code()), tmp_path / "agent")] = [
        name for name in modules if not name.endswith("__main__") and _can_be_imported(name)
    ]
    program = IMPORT.format(root=str(ROOT), packages=sysconfig.get_path("purelib"))
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=json.dumps(wanted), capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip

    assert len(HANDLERS) >= 9
    assert run.returncode == 0, run.stderr


def _can_be_imported(name: str) -> bool:
    """Not where it needs what only a training container has."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def test_the_deployed_functions_are_those_that_are_tried() -> None:
    deployed = {
        resource.properties["Handler"]
        for environment in ("prod", "staging", "dev")
        for stack in templates(environment).values()
        for resource in stack.resources("AWS::Lambda::Function")
        if str(resource.properties["Handler"]).startswith("lambdas.")
    }
    assert deployed <= set(HANDLERS)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in ("fleet", "lambdas", "agents"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def changed_by(copy: Path, *edited: str) -> set[str]:
    """The handlers, and "agent", whose assets are others after a line more in these files."""
    before = {handler: function_code(handler) for handler in HANDLERS} | {"agent": archive.pack(archive.code())}
    for name in edited:
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write("\n# One line more.\n")
    after = {handler: function_code(handler, copy) for handler in HANDLERS}
    after["agent"] = archive.pack(archive.code(copy))
    return {name for name in before if before[name] != after[name]}


def test_an_edit_of_planning_or_of_the_evaluation_changes_no_asset(copy: Path) -> None:
    edited = [
        path.relative_to(ROOT).as_posix()
        for room in ("planning", "alarm_evaluation", "alarm_linter", "preflight")
        for path in sorted((ROOT / "fleet" / room).rglob("*.py"))
    ]
    assert len(edited) > 40
    assert changed_by(copy, *edited) == set()


def test_an_edit_of_what_one_function_imports_changes_that_one(copy: Path) -> None:
    assert changed_by(copy, "lambdas/pager/page.py") == {"lambdas.pager.handler.lambda_handler"}


def test_an_edit_of_names_that_all_share_changes_all(copy: Path) -> None:
    assert changed_by(copy, "fleet/metrics.py") >= {"agent", "lambdas.pager.handler.lambda_handler"}


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_every_way_to_import_is_followed_and_type_checking_is_not(tmp_path: Path) -> None:
    write(
        tmp_path,
        a__start="from a import direct\nimport a.absolute\nfrom . import near\nfrom .sub import deep\nimport json\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import unseen\nelse:\n    import a.seen\n"
        "def late():\n    try:\n        from a import inner\n    except ImportError:\n        import a.other\n",
        **{f"a__{name}": "" for name in ("direct", "absolute", "near", "unseen", "seen", "inner", "other", "loose")},
        a__sub__deep="from ..sub2 import name",
        a__sub2="name = 1",
    )
    (tmp_path / "a/sub/__init__.py").touch()
    found = {path.as_posix() for path in imported_files(["a.start"], tmp_path)}

    names = ("start", "direct", "absolute", "near", "sub/__init__", "sub/deep", "sub2", "seen", "inner", "other")
    assert found == {f"a/{name}.py" for name in names}


def test_a_data_file_comes_along_and_one_that_cannot_be_told_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a__start='from importlib.resources import files\nT = files("a").joinpath("data/x.json")\n')
    (tmp_path / "a/__init__.py").touch()
    assert Path("a/data/x.json") in imported_files(["a.start"], tmp_path)

    write(tmp_path, b__start='from importlib.resources import files\nT = files("a").joinpath(NAME)\n')
    with pytest.raises(UnknownImportError, match=r'b/start.py:2: names a data file .*; write files\("package"\)'):
        imported_files(["b.start"], tmp_path)

    write(tmp_path, c__start="from importlib import import_module\nimport_module(NAME)\n")
    with pytest.raises(UnknownImportError, match=r"c/start.py:2: import_module"):
        imported_files(["c.start"], tmp_path)
    with pytest.raises(UnknownImportError, match="d: no such module"):
        imported_files(["d"], tmp_path)

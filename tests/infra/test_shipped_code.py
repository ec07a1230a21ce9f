"""What functions and nodes get: all that they import, found by another way than synthesis finds it, and no more."""

import io
import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grimp
import pytest

from fleet import alarm_page
from stacks.agent_archive import archive
from stacks.constructs.python_function import PACKAGES, ROOT, code_of
from stacks.import_closure import ImportClosureError, files_of
from tests.support.templates import platform, templates

# Imports each program from its own folder, and says which of the project's modules came from elsewhere.
IMPORTS: Final = """
import importlib, json, sys
sys.path.append(sys.argv[2])
failed = {}
for name, folder in json.loads(sys.argv[1]).items():
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        importlib.import_module(name)
    except ImportError as error:
        failed[name] = str(error)
    ours = [each for each in sys.modules if each.partition(".")[0] in ("agents", "fleet", "lambdas", "workload")]
    strangers = [each for each in ours if not sys.modules[each].__file__.startswith(folder)]
    if strangers:
        failed[name] = f"from elsewhere: {strangers}"
    for each in ours:
        del sys.modules[each]
    sys.path.remove(folder)
print(json.dumps(failed))
"""

COMMAND: Final = """
import runpy, sys
sys.path += [sys.argv.pop(1), sys.argv.pop(1)]
runpy.run_module("agents.main", None, "__main__")
"""
THIRD_PARTY: Final = sysconfig.get_path("purelib")
HANDLERS: Final = sorted(f"lambdas.{path.parent.name}.handler" for path in ROOT.glob("lambdas/*/handler.py"))


def deployed() -> dict[str, Path]:
    """The zip of each function of production, by its handler's module."""
    found = {}
    for template in templates("prod").values():
        for each in template.resources("AWS::Lambda::Function"):
            handler = str(each.properties.get("Handler", ""))
            if handler.startswith("lambdas."):
                key = each.properties["Code"]["S3Key"]
                found[handler.rpartition(".")[0]] = Path(platform("prod").asset_outdir) / f"asset.{key}"
    return found


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each function's code, and the archive for each of the agent's programs, in a folder of its own."""
    folders = {}
    for name in HANDLERS:
        folders[name] = tmp_path_factory.mktemp(name)
        with zipfile.ZipFile(io.BytesIO(archive.zipped(code_of(f"{name}.lambda_handler").files))) as files:
            files.extractall(folders[name])
    agent = tmp_path_factory.mktemp("agent")
    with zipfile.ZipFile(io.BytesIO(archive.pack(archive.code()))) as files:
        files.extractall(agent)
    return folders | dict.fromkeys(archive.ENTRIES, agent)


def failures(folders: Mapping[str, Path]) -> dict[str, str]:
    programs = json.dumps({name: str(folder) for name, folder in folders.items()})
    # Neither this folder nor PYTHONPATH, and not the project as it may be installed for development.
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "ignore", "-c", IMPORTS, programs, THIRD_PARTY],
        capture_output=True, text=True, check=True, cwd="/", env={"AWS_DEFAULT_REGION": "us-east-2"},
    )  # fmt: skip
    failed: dict[str, str] = json.loads(run.stdout)
    return failed


def test_every_asset_alone_imports_its_program(unpacked: dict[str, Path]) -> None:
    assert failures(unpacked) == {}


def test_an_asset_without_one_of_its_modules_does_not(unpacked: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(unpacked["lambdas.pager.handler"], tmp_path / "pager")
    (tmp_path / "pager" / "fleet" / "paging.py").unlink()

    assert failures({"lambdas.pager.handler": tmp_path / "pager"}) == {
        "lambdas.pager.handler": "No module named 'fleet.paging'"
    }


@pytest.mark.parametrize("command", [("--version",), ("--help",), ("gate", "--help"), ("run", "--help")])
def test_the_agents_command_answers_from_the_archive_alone(unpacked: dict[str, Path], command: tuple[str, ...]) -> None:
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", COMMAND, str(unpacked["agents.main"]), THIRD_PARTY, *command],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip

    assert (run.returncode, run.stderr) == (0, "")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        "fleet", "workload", "agents", "lambdas", cache_dir=None, exclude_type_checking_imports=True
    )


def modules(files: Mapping[str, bytes]) -> set[str]:
    return {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in files if path[-3:] == ".py"
    }


def expected(graph: grimp.ImportGraph, entries: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    waiting = set(entries)
    while waiting:
        name = waiting.pop()
        found.add(name)
        parent = name.rpartition(".")[0]
        waiting |= (graph.find_upstream_modules(name) | ({parent} if parent else set())) - found
    return found


def test_synthesis_and_the_import_linter_find_the_same_modules(graph: grimp.ImportGraph) -> None:
    for handler in HANDLERS:
        assert modules(code_of(f"{handler}.lambda_handler").files) == expected(graph, (handler,)), handler
    assert modules(archive.code().files) == expected(graph, archive.ENTRIES)


def test_every_way_of_reading_a_file_beside_a_module_is_known() -> None:
    shipped = {**archive.code().files}
    for handler in HANDLERS:
        shipped |= code_of(f"{handler}.lambda_handler").files
    marks = (b"__file__", b"importlib", b"pkgutil", b"__path__", b"runpy")

    readers = {
        name for name, content in shipped.items() if name[-3:] == ".py" and any(mark in content for mark in marks)
    }

    # The pager's definitions of alarms are written by synthesis.
    assert readers == {"fleet/instances.py", "lambdas/pager/settings.py"}
    assert {name for name in shipped if name.startswith("fleet/") and name[-3:] != ".py"} == {
        "fleet/data/instances.json"
    }


ONLY_FOR_PEOPLE = ("planning", "environments", "dashboards", "cli", "local")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name in ("agents", "workload", *ONLY_FOR_PEOPLE, *PACKAGES):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def digests(root: Path) -> dict[str, str]:
    functions = {name: code_of(f"{name}.lambda_handler", root).digest for name in HANDLERS}
    return {**functions, "agent": archive.code(root).digest}


def edited(root: Path, *names: str) -> set[str]:
    """The assets that change when these files do."""
    before = digests(root)
    originals = {root / name: (root / name).read_bytes() for name in names}
    for path, content in originals.items():
        path.write_bytes(content + b"\n")
    after = digests(root)
    for path, content in originals.items():
        path.write_bytes(content)
    return {asset for asset in before if before[asset] != after[asset]}


def test_an_edit_of_what_only_people_run_changes_no_asset(copy: Path) -> None:
    files = [path.relative_to(copy).as_posix() for room in ONLY_FOR_PEOPLE for path in (copy / room).rglob("*.py")]

    assert len(files) > 100
    assert edited(copy, *files) == set()


def test_an_edit_changes_the_assets_of_those_who_import_it(copy: Path) -> None:
    pager, prices = "lambdas.pager.handler", "lambdas.prices.handler"

    assert edited(copy, "lambdas/pager/service.py") == {pager}
    assert pager in (of_paging := edited(copy, "fleet/paging.py"))
    assert prices not in of_paging
    assert {pager, prices, "agent"} <= edited(copy, "fleet/data/instances.json")
    assert edited(copy, "agents/packaging/install.sh") == {"agent"}


def test_the_deployed_zips_are_of_exactly_these_files() -> None:
    zips = deployed()

    assert "lambdas.pager.handler" in zips
    for handler, asset in zips.items():
        with zipfile.ZipFile(asset) as files:
            held = {name: files.read(name) for name in files.namelist()}
        assert (held.pop(alarm_page.FILE, None) is not None) is (handler == "lambdas.pager.handler")
        assert held == code_of(f"{handler}.lambda_handler").files


SOURCES: Final = {
    "fleet/__init__.py": "from fleet import beside\n",
    "fleet/beside.py": "",
    "fleet/main.py": "\n".join(
        [
            "from typing import TYPE_CHECKING",
            "from . import near",
            "from .below.deep import value",
            "from fleet.below import constant",
            "from fleet import whole as other",
            "if TYPE_CHECKING:",
            "    import fleet.typed",
            "else:",
            "    import fleet.untyped",
            "def late():",
            "    import fleet.late",
            "    importlib.import_module('fleet.named')",
            "    return files('fleet').joinpath('data/x.json')",
            "PROGRAM = 'import sys\\nfrom fleet.written import main'",
        ]
    ),
    "fleet/below/__init__.py": "constant = 1\n",
    "fleet/below/deep.py": "from .. import above\n",
    "fleet/data/x.json": "{}",
    **{f"fleet/{name}.py": "" for name in ("near", "whole", "typed", "untyped", "late", "named", "written", "above")},
    "fleet/unused.py": "import fleet.typed\n",
}


def write(root: Path, sources: Mapping[str, str]) -> Path:
    for name, text in sources.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_each_way_of_importing_is_followed_but_for_the_type_checkers(tmp_path: Path) -> None:
    found = files_of(["fleet.main"], ["fleet"], write(tmp_path, SOURCES))

    assert set(SOURCES) - set(found) == {"fleet/typed.py", "fleet/unused.py"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import fleet.nowhere", r"fleet\.nowhere: there is no such module .* \(fleet/main\.py imports it\)"),
        ("files('fleet').joinpath('gone.json')", r"fleet/gone\.json: cannot be read, and fleet/main\.py does"),
        ("files(package)", r"fleet\.main: line 1 reads a data file that cannot be told"),
        ("files('fleet') / 'gone.json'", r"fleet\.main: line 1 reads a data file that cannot be told"),
        ("files('fleet').joinpath(name)", r"fleet\.main: line 1 reads a data file that cannot be told"),
    ],
)
def test_what_cannot_be_found_is_named(tmp_path: Path, text: str, message: str) -> None:
    root = write(tmp_path, {"fleet/__init__.py": "", "fleet/main.py": text})

    with pytest.raises(ImportClosureError, match=message):
        files_of(["fleet.main"], ["fleet"], root)

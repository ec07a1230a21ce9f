"""What `pip install` makes of the project works in an empty folder, far from its clone."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet.version import VERSION
from local.dashboards_page import chart_library
from tests.support import samples

ROOT = Path(__file__).parents[2]
# The distributions' folders and packages; the first is the platform's.
DISTRIBUTIONS = {
    "neuron_fleet": (".", ("planning", "environments", "stacks", "dashboards", "lambdas", "cli", "local")),
    "neuron_fleet_core": ("fleet", ("fleet",)),
    "neuron_fleet_workload": ("workload", ("workload",)),
    "neuron_fleet_agent": ("agents", ("agents",)),
}
# What the builds read besides.
SOURCES = (
    "pyproject.toml",
    "LICENSE",
    "distributions.py",
    "requirements*.txt",
    "docs/runbooks",
    "docs/source-figures.yaml",
)


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel in it; dependencies are those of this one."""

    bin: Path
    packages: Path
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run it as somebody would who has nothing but this."""
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "COLUMNS": "120"}
        program = str(self.bin / command[0])
        return subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=variables,
            timeout=60,
        )


def tracked(*places: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *places], capture_output=True, check=True, cwd=ROOT).stdout
    return [Path(name) for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By distribution; built from what is tracked and nothing else, far from the clone."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked(*(room for _, rooms in DISTRIBUTIONS.values() for room in rooms), *SOURCES):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(out)]
    folders = [str(source / folder) for folder, _ in DISTRIBUTIONS.values()]
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *build, *folders], check=True, cwd=source
    )
    return {wheel.name.partition("-")[0]: wheel for wheel in out.iterdir()}


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(list(wheels.values()), tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("empty"))


def install(wheels: list[Path], place: Path, empty: Path, *, dependencies: bool = True) -> Installed:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    if dependencies:
        # A path and no more: what an editable installation of the clone leaves in that folder is not followed.
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    options = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", *map(str, wheels)]
    # Else pip would find the clone, which the tests run in, and call it installed.
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place / "bin/python")]
    subprocess.run([*pip, *options], check=True, env=variables, cwd=place)
    return Installed(place / "bin", packages, empty)


def metadata(wheel: Path) -> str:
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    return zipfile.ZipFile(wheel).read(name).decode()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_every_file_of_its_packages_is_in_a_wheel_and_no_other(wheels: dict[str, Path], distribution: str) -> None:
    ours = {str(path) for path in tracked(*DISTRIBUTIONS[distribution][1]) if path.name != "pyproject.toml"}
    if distribution == "neuron_fleet":
        documents = tracked("docs/runbooks/*.md", "docs/source-figures.yaml")
        ours |= {str(Path("environments") / path) for path in documents}
    ours.discard("workload/requirements.txt")

    names = {name for name in zipfile.ZipFile(wheels[distribution]).namelist() if ".dist-info/" not in name}
    assert names == ours


@pytest.mark.parametrize(
    ("distribution", "file", "extra"),
    [
        ("neuron_fleet", "requirements.txt", None),
        ("neuron_fleet", "requirements-synth.txt", "synth"),
        ("neuron_fleet", "requirements-local.txt", "local"),
        ("neuron_fleet_agent", "agents/requirements.txt", None),
        ("neuron_fleet_workload", "workload/requirements.txt", "aws"),
        ("neuron_fleet_core", None, None),
    ],
)
def test_a_wheel_asks_for_what_is_pinned(
    wheels: dict[str, Path], distribution: str, file: str | None, extra: str | None
) -> None:
    text = (ROOT / file).read_text(encoding="utf-8") if file else ""
    pins = {line.lower() for line in text.splitlines() if line and line[0] != "#"}

    condition = f"; extra == '{extra}'" if extra else ""
    asked = re.findall(
        rf"^Requires-Dist: ([^;\n]+){re.escape(condition)}$", metadata(wheels[distribution]), re.MULTILINE
    )
    assert {each for each in asked if not each.startswith("neuron-fleet")} == pins


def test_distributions_ask_for_one_another_in_this_very_version(wheels: dict[str, Path]) -> None:
    found = {
        name: set(re.findall(r"^Requires-Dist: (neuron-fleet\S+)$", metadata(wheel), re.MULTILINE))
        for name, wheel in wheels.items()
    }

    core, workload, agent = (f"neuron-fleet-{part}=={VERSION}" for part in ("core", "workload", "agent"))
    assert found == {
        "neuron_fleet": {core, workload, agent},
        "neuron_fleet_agent": {core, workload},
        "neuron_fleet_workload": {core},
        "neuron_fleet_core": set(),
    }


def test_each_says_the_oldest_python_that_its_code_runs_on(wheels: dict[str, Path]) -> None:
    floors = {
        name: re.findall(r"^Requires-Python: >=(\S+)$", metadata(wheel), re.MULTILINE) for name, wheel in wheels.items()
    }

    assert floors["neuron_fleet_core"] == floors["neuron_fleet_workload"] == ["3.10"]
    assert floors["neuron_fleet_agent"] == floors["neuron_fleet"] == ["3.11"]


def test_the_workload_library_needs_its_core_and_nothing_else(
    wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = [wheels["neuron_fleet_core"], wheels["neuron_fleet_workload"]]
    alone = install(parts, tmp_path_factory.mktemp("alone"), tmp_path_factory.mktemp("home"), dependencies=False)
    modules = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for part in parts
        for name in zipfile.ZipFile(part).namelist()
        if name.endswith(".py") and not name.endswith(("adapters.py", "__main__.py"))
    )

    answer = alone.run("python", "-I", "-c", f"import importlib\nfor name in {modules}: importlib.import_module(name)")

    assert answer.returncode == 0, answer.stderr
    assert len(modules) > 100
    assert "status|warm|promote" in alone.run("python", "-I", "-m", "workload.compile_cache").stderr


def test_both_commands_say_their_version(installed: Installed) -> None:
    assert installed.run("fleet", "--version").stdout == f"fleet {VERSION}\n"
    assert installed.run("fleet-agent", "--version").stdout == f"fleet-agent {VERSION}\n"


def test_a_file_of_ones_own_is_judged_with_its_alarms_and_their_runbooks(installed: Installed) -> None:
    shutil.copyfile(ROOT / "environments/dev.yaml", installed.folder / "dev.yaml")

    answer = installed.run("fleet", "validate", "dev.yaml")

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.splitlines()[-1] == "dev.yaml: valid"


def test_a_model_is_sized_by_the_catalogue(installed: Installed) -> None:
    shape = ("--params", "7B", "--layers", "32", "--hidden", "4096", "--heads", "32", "--vocab", "32000")
    answer = installed.run("fleet", "plan", "size", *shape, "--json")

    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)


def test_a_scenario_that_ships_is_replayed(installed: Installed) -> None:
    scenario = installed.packages / "local/scenarios/corpus/agents-down.yaml"

    answer = installed.run("fleet", "replay", str(scenario), "--json")

    assert answer.returncode == 0, answer.stderr


def test_what_neuron_monitor_said_is_inspected(installed: Installed) -> None:
    (installed.folder / "node.jsonl").write_bytes(samples.line(samples.full_node()))

    answer = installed.run("fleet-agent", "inspect", "node.jsonl", "--json")

    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["metric_data"]


def test_the_page_its_runbooks_and_the_figures_are_found(installed: Installed) -> None:
    found = """
from pathlib import Path
from environments.documents import DOCS, RUNBOOKS
from local.dashboards_page.app import STATIC
from local.replay.scenario import CORPUS
print(*(each.is_file() for each in (
    STATIC / "index.html", STATIC / "chart.js", RUNBOOKS / "JobHang.md", DOCS / "source-figures.yaml",
    CORPUS / "agents-down.yaml", CORPUS.parent / "demo.yaml",
)))
"""
    answer = installed.run("python", "-c", found)

    assert answer.stdout.split() == ["True"] * 6, answer.stderr


def test_what_needs_the_clone_says_so(installed: Installed) -> None:
    answer = installed.run("fleet", "local", "up")

    assert answer.returncode == 1
    assert "is not the project's folder" in answer.stderr


def test_the_page_and_the_hint_name_the_chart_library_as_it_is_pinned() -> None:
    pinned = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]["echarts"]

    assert f"echarts@{pinned}" == chart_library.PACKAGE
    assert f"npm install {chart_library.PACKAGE}" in (ROOT / "docs/cli.md").read_text(encoding="utf-8")

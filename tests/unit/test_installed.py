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

from local.dashboards_page import chart_library
from tests.support import samples

ROOT = Path(__file__).parents[2]
ROOMS = ("fleet", "environments", "stacks", "dashboards", "agents", "lambdas", "cli", "local")
# What the build reads besides: setup.py says what becomes of it.
SOURCES = ("pyproject.toml", "setup.py", "requirements*.txt", "docs/runbooks", "docs/source-figures.yaml")


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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: setuptools leaves a folder behind, whose old files would get into the next wheel."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked(*ROOMS, *SOURCES):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    build = [
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--wheel-dir",
        str(out),
        str(source),
    ]
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *build], check=True, cwd=source)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    # A path and no more: what an editable installation of the clone leaves in that folder is not followed.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    # Else pip would find the clone, which the tests run in, and call it installed.
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place / "bin/python")]
    subprocess.run([*pip, *install], check=True, env=variables, cwd=place)
    return Installed(place / "bin", packages, tmp_path_factory.mktemp("empty"))


def test_every_file_of_the_packages_is_in_the_wheel_and_no_other(wheel: Path) -> None:
    ours = {str(path) for path in tracked(*ROOMS)}
    documents = {str(Path("environments") / path) for path in tracked("docs/runbooks/*.md", "docs/source-figures.yaml")}

    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == ours | documents


def test_the_wheel_asks_for_what_is_pinned(wheel: Path) -> None:
    (metadata,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    text = zipfile.ZipFile(wheel).read(metadata).decode()

    for file, extra in (
        ("requirements.txt", None),
        ("requirements-synth.txt", "synth"),
        ("requirements-local.txt", "local"),
    ):
        pins = [line for line in (ROOT / file).read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
        condition = f'; extra == "{extra}"' if extra else ""
        asked = re.findall(rf"^Requires-Dist: ([^;\n]+){re.escape(condition)}$", text, re.MULTILINE)
        assert asked == pins


def test_both_commands_say_their_version(installed: Installed) -> None:
    version = re.search(r'"(.+)"', (ROOT / "fleet/version.py").read_text(encoding="utf-8").split("Final = ")[1])

    assert version is not None
    assert installed.run("fleet", "--version").stdout == f"fleet {version[1]}\n"
    assert installed.run("fleet-agent", "--version").stdout == f"fleet-agent {version[1]}\n"


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

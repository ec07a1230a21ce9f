"""``make agent`` without its downloads: the same bytes for the same inputs, slim wheels, an honest lock file."""

import base64
import csv
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from stacks.agent_archive import archive, wheels
from stacks.agent_archive.__main__ import build
from stacks.agent_archive.archive import AgentArchiveError, Code

BOTOCORE = "botocore-1.43.106-py3-none-any.whl"
INFO = "botocore-1.43.106.dist-info"
FILES = {
    "botocore/client.py": b"code",
    "botocore/data/endpoints.json": b"{}",
    "botocore/data/cloudwatch/2010-08-01/service-2.json.gz": b"cloudwatch",
    "botocore/data/logs/2014-03-28/service-2.json.gz": b"logs",
    "botocore/data/sts/2011-06-15/service-2.json.gz": b"sts",
    "botocore/data/ec2/2016-11-15/service-2.json.gz": b"ec2" * 1000,
    "botocore/data/logs-of-another/x.json": b"another",
    f"{INFO}/METADATA": b"Name: botocore\n",
    f"{INFO}/RECORD": b"botocore/data/ec2/2016-11-15/service-2.json.gz,sha256=x,3000\n",
}
DOWNLOADED = {
    BOTOCORE: archive.zipped(FILES),
    "msgspec-0.22.0-cp311-cp311-manylinux2014_x86_64.whl": b"eleven",
    "msgspec-0.22.0-cp312-cp312-manylinux2014_x86_64.whl": b"twelve",
    "pip-26.3-py3-none-any.whl": b"pip",
}


def test_the_same_files_are_the_same_bytes_in_whatever_order_they_come() -> None:
    files = {"b": b"2", "a": b"1"}

    assert archive.zipped(files) == archive.zipped(dict(sorted(files.items())))


def test_the_digest_changes_with_a_name_and_with_a_content_and_when_bytes_move_between_files() -> None:
    digests = {
        Code(files).digest
        for files in ({"a": b"1", "b": b"2"}, {"a": b"1", "c": b"2"}, {"a": b"1", "b": b"3"}, {"a": b"12", "b": b""})
    }

    assert len(digests) == 4


def project(root: Path) -> Path:
    """As much of the project as an archive is made of."""
    modules = [*(f"{entry.replace('.', '/')}.py" for entry in archive.ENTRIES), "fleet/other.py", "cli/x.py"]
    packages = {f"{parent}/__init__.py" for module in modules for parent in Path(module).parents if parent.name}
    scripts = ["agents/packaging/install.sh", "agents/packaging/.install.sh.swp", "agents/packaging/install.sh.orig"]
    for name in (*modules, *packages, *scripts, "agents/requirements.lock", "agents/__pycache__/main.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    return root


def test_the_archive_holds_what_runs_and_what_installs_it_and_nothing_else(tmp_path: Path) -> None:
    assert set(archive.code(project(tmp_path)).files) == {
        "agents/__init__.py",
        "agents/main.py",
        "agents/packaging/install.sh",
        "agents/requirements.lock",
        "workload/__init__.py",
        "workload/compile_cache/__init__.py",
        "workload/compile_cache/__main__.py",
    }


def test_botocore_is_repacked_with_the_services_of_the_agent_and_a_true_record() -> None:
    (name,) = (name for name in wheels.slim(DOWNLOADED) if name.startswith("botocore-"))
    slim = zipfile.ZipFile(io.BytesIO(wheels.slim(DOWNLOADED)[name]))

    assert name == "botocore-1.43.106-1agent-py3-none-any.whl"
    assert set(FILES) - set(slim.namelist()) == {
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "botocore/data/logs-of-another/x.json",
    }
    record = {row[0]: row[1:] for row in csv.reader(slim.read(f"{INFO}/RECORD").decode().splitlines())}
    assert set(record) == set(slim.namelist())
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"code").digest()).decode().rstrip("=")
    assert record["botocore/client.py"] == [f"sha256={digest}", "4"]
    assert record[f"{INFO}/RECORD"] == ["", ""]


def test_other_wheels_are_left_as_they_are() -> None:
    slim = wheels.slim(DOWNLOADED)

    assert {name: slim[name] for name in DOWNLOADED if name != BOTOCORE} == {
        name: content for name, content in DOWNLOADED.items() if name != BOTOCORE
    }


def test_the_lock_file_allows_each_wheel_of_a_package_and_nothing_else() -> None:
    eleven, twelve = sorted(hashlib.sha256(content).hexdigest() for content in (b"eleven", b"twelve"))

    text = wheels.lock({name: content for name, content in DOWNLOADED.items() if name.startswith("msgspec")})

    assert text == f"msgspec==0.22.0 \\\n    --hash=sha256:{eleven} \\\n    --hash=sha256:{twelve}\n"


def download(folder: Path) -> Path:
    folder.mkdir()
    for name, content in DOWNLOADED.items():
        (folder / name).write_bytes(content)
    return folder


def test_two_builds_are_the_same_and_their_checksum_is_beside_them(tmp_path: Path) -> None:
    one, two = tmp_path / "one" / "agent.zip", tmp_path / "two" / "agent.zip"
    downloaded = download(tmp_path / "wheels")
    report = build(downloaded, one)
    build(downloaded, two)

    assert one.read_bytes() == two.read_bytes()
    checksum = hashlib.sha256(one.read_bytes()).hexdigest()
    assert (tmp_path / "one" / "agent.zip.sha256").read_text() == f"{checksum}  agent.zip\n"
    assert checksum in report
    assert archive.checked(one) == one.read_bytes()


def test_the_archive_lists_its_wheels_and_locks_all_but_the_installer(tmp_path: Path) -> None:
    build(download(tmp_path / "wheels"), tmp_path / "agent.zip")

    held = zipfile.ZipFile(tmp_path / "agent.zip")
    manifest = json.loads(held.read("manifest.json"))
    assert manifest["content"] == archive.code().digest
    locked = wheels.pinned(held.read("wheels/requirements.lock").decode().splitlines())
    assert locked == {"botocore": "1.43.106", "msgspec": "0.22.0"}
    assert [name for name in manifest["wheels"] if name.endswith(".whl")] == sorted(wheels.slim(DOWNLOADED))


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ([], "holds no wheels"),
        (["x.tar.gz"], "x.tar.gz: not a wheel"),
        (["msgspec-0.22.0-cp311-cp311-manylinux2014_x86_64.whl"], "holds 0 wheels of pip, and one is needed"),
    ],
)
def test_what_cannot_be_built_from_is_one_clear_line(tmp_path: Path, names: list[str], line: str) -> None:
    (tmp_path / "wheels").mkdir()
    for name in names:
        (tmp_path / "wheels" / name).write_bytes(b"")

    run = subprocess.run(
        [sys.executable, "-m", "stacks.agent_archive", "build", str(tmp_path / "wheels"), str(tmp_path / "agent.zip")],
        capture_output=True, text=True, check=False, cwd=archive.ROOT,
    )  # fmt: skip

    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.endswith(line + "\n")
    assert len(run.stderr.splitlines()) == 1


def test_an_archive_is_current_until_a_file_of_the_agent_changes(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    (tmp_path / "agent.zip").write_bytes(archive.pack(archive.code(root)))
    assert archive.checked(tmp_path / "agent.zip", root)

    (root / "agents" / "main.py").write_bytes(b"two = 2")

    with pytest.raises(AgentArchiveError, match="made of other code"):
        archive.checked(tmp_path / "agent.zip", root)

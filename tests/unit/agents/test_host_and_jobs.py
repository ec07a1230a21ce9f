"""What the host shows: compilers, markers, and whose job it is."""

import json
from pathlib import Path

import pytest

from agents.boot import boot_id
from agents.collectors.collector import Request
from agents.collectors.compilers import CompilerCollector, compiler_pids
from agents.collectors.job import Job, dimension_value
from agents.collectors.jobs import JobCollector
from agents.collectors.markers import MarkerCollector


def process(proc: Path, pid: int, comm: str = "python3", **environment: str) -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(comm + "\n")
    content = b"\0".join(f"{key}={value}".encode() for key, value in environment.items())
    (folder / "environ").write_bytes(content + b"\0")


def register(folder: Path, file: str, **content: object) -> None:
    (folder / "jobs").mkdir(exist_ok=True)
    (folder / "jobs" / file).write_text(json.dumps(content))


def finder(folder: Path) -> JobCollector:
    return JobCollector(folder / "jobs", folder / "proc")


def test_a_registration_file_wins_over_the_environment(tmp_path: Path) -> None:
    register(tmp_path, "a.json", job_id="a", name="llama", owner="ada", cores=32, tokens_wanted=1e9)
    process(tmp_path / "proc", 7, AWS_BATCH_JOB_ID="b")

    assert finder(tmp_path).find([7]) == (Job("a", "llama", "ada", registered=True), ())


@pytest.mark.parametrize(
    ("environment", "job_id"),
    [
        ({"AWS_BATCH_JOB_ID": "4e6f#3", "ECS_CONTAINER_METADATA_URI_V4": "http://169.254.170.2/v4/x-1"}, "4e6f"),
        ({"SLURM_JOB_ID": "812", "SLURM_JOB_NAME": "pretrain", "SLURM_JOB_USER": "ada"}, "812"),
        ({"ECS_CONTAINER_METADATA_URI_V4": "http://169.254.170.2/v4/0f1e2d3c-1234567"}, "0f1e2d3c"),
    ],
)
def test_the_environment_of_a_runtime_names_its_job(tmp_path: Path, environment: dict[str, str], job_id: str) -> None:
    process(tmp_path / "proc", 7, **environment)

    job, problems = finder(tmp_path).find([5, 7])

    assert job is not None
    assert (job.job_id, job.registered, problems) == (job_id, False, ())


def test_no_sign_of_a_job_is_no_job(tmp_path: Path) -> None:
    process(tmp_path / "proc", 7, PATH="/bin")

    assert finder(tmp_path).find([7, 8]) == (None, ())


def test_a_bad_registration_file_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    register(tmp_path, "a.json", job_id="a", cores=2)
    register(tmp_path, "b.json", name="without an id")

    job, problems = finder(tmp_path).find([])

    assert job is not None
    assert job.job_id == "a"
    assert "b.json" in problems[0]
    assert "job_id" in problems[0]


def test_of_several_jobs_the_one_with_most_cores_counts_and_it_is_said(tmp_path: Path) -> None:
    register(tmp_path, "a.json", job_id="a", cores=2)
    register(tmp_path, "b.json", job_id="b", cores=30)

    job, problems = finder(tmp_path).find([])

    assert job is not None
    assert job.job_id == "b"
    assert "several jobs" in problems[0]


@pytest.mark.parametrize(
    ("text", "value"), [(":job\n", "job"), ("café", "caf"), ("", "unattributed"), ("x" * 300, "x" * 255)]
)
def test_a_job_id_becomes_what_cloudwatch_takes(text: str, value: str) -> None:
    assert dimension_value(text) == value


def test_compilers_and_markers_are_seen(tmp_path: Path) -> None:
    process(tmp_path / "proc", 12, "walrus_driver")
    process(tmp_path / "proc", 9, "neuronx-cc")
    process(tmp_path / "proc", 10)
    (tmp_path / "drain").write_text("")
    (tmp_path / "checkpoint").touch()

    seen = MarkerCollector(tmp_path).collect(Request(0))

    assert (seen.draining, seen.checkpoint) == ("told to drain", True)
    assert compiler_pids(tmp_path / "proc") == (9, 12)
    assert CompilerCollector(tmp_path / "proc").collect(Request(0)).compiling


def test_a_host_that_shows_nothing_is_quiet(tmp_path: Path) -> None:
    seen = MarkerCollector(tmp_path).collect(Request(0))

    assert (seen.draining, seen.checkpoint, boot_id(tmp_path)) == (None, False, "")
    assert not CompilerCollector(tmp_path).collect(Request(0)).compiling

"""Whose a process is: registrations, schedulers' variables, launchers that clear them, control groups."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.jobs.collector import JobCollector
from agents.collectors.jobs.job import Job, KnownBy, dimension_value

TASK = "cb2fb3252d31461abd9fcd33b7980cc5"
BATCH = "4e6f2d3a-1111-4222-8333-444455556666"


def process(
    folder: Path,
    pid: int,
    environment: dict[str, str] | None = None,
    *,
    cgroup: str = "",
    stat: str = "",
    comm: str = "",
) -> Path:
    """A process below ``folder``/proc; its parent and state are in ``stat``."""
    directory = folder / "proc" / str(pid)
    directory.mkdir(parents=True)
    (directory / "comm").write_text((comm or "python3") + "\n")
    content = b"\0".join(f"{key}={value}".encode() for key, value in (environment or {}).items())
    (directory / "environ").write_bytes(content + b"\0")
    if cgroup:
        (directory / "cgroup").write_text(cgroup)
    if stat:
        (directory / "stat").write_text(stat)
    return directory


def register(folder: Path, **content: object) -> None:
    directory = folder / "jobs"
    directory.mkdir(exist_ok=True)
    (directory / f"{content['job_id']}.json").write_text(json.dumps(content))


def collector(folder: Path) -> JobCollector:
    return JobCollector(folder / "jobs", folder / "proc")


def look(folder: Path, *pids: int) -> Contribution:
    return collector(folder).collect(Request(0, pids))


def owners(seen: Contribution) -> dict[str, tuple[int, ...] | None]:
    return {job.job_id: job.pids for job in seen.jobs or ()}


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({"AWS_BATCH_JOB_ID": BATCH}, (BATCH, BATCH, "", "batch")),
        # Batch's containers are ECS tasks too.
        ({"AWS_BATCH_JOB_ID": f"{BATCH}#3", "ECS_CONTAINER_METADATA_URI_V4": f"http://169.254.170.2/v4/{TASK}-1"},
         (BATCH, BATCH, "", "batch")),
        ({"AWS_BATCH_JOB_ID": f"{BATCH}:17", "AWS_BATCH_JOB_ARRAY_INDEX": "17"}, (BATCH, BATCH, "", "batch")),
        ({"AWS_BATCH_JOB_ID": f"{BATCH}#0", "NEURON_FLEET_JOB": "llama-7b", "NEURON_FLEET_OWNER": "research"},
         (BATCH, "llama-7b", "research", "batch")),
        ({"SLURM_JOB_ID": "812", "SLURM_JOB_NAME": "pretrain", "SLURM_JOB_USER": "ada"},
         ("812", "pretrain", "ada", "slurm")),
        ({"SLURM_JOB_ID": "37", "SLURM_ARRAY_JOB_ID": "36", "SLURM_ARRAY_TASK_ID": "2"}, ("36", "36", "", "slurm")),
        ({"SLURM_JOB_ID": "124", "SLURM_HET_JOB_ID": "123", "SLURM_HET_JOB_OFFSET": "1"}, ("123", "123", "", "slurm")),
        ({"SLURM_JOBID": "812", "SLURM_STEP_ID": "0"}, ("812", "812", "", "slurm")),
        ({"ECS_CONTAINER_METADATA_URI_V4": f"http://169.254.170.2/v4/{TASK}-3779599274"},
         (TASK, f"ecs task {TASK}", "", "ecs")),
    ],
)  # fmt: skip
def test_the_environment_of_a_runtime_names_its_job(
    tmp_path: Path, environment: dict[str, str], job: tuple[str, str, str, str]
) -> None:
    process(tmp_path, 7, environment)

    (found,) = look(tmp_path, 7).jobs or ()

    assert (found.job_id, found.name, found.owner, found.known_by.value, found.registered) == (*job, False)


@pytest.mark.parametrize(
    ("cgroup", "job"),
    [
        ("0::/system.slice/slurmstepd.scope/job_1392969/step_0/user/task_0\n", "1392969"),
        ("0::/system.slice/node7_slurmstepd.scope/job_5/step_batch\n", "5"),
        ("11:memory:/x\n10:devices:/slurm/uid_2101171/job_280678/step_0/task_0\n", "280678"),
        ("10:devices:/slurm_node7/uid_1/job_9\n", "9"),
        (f"0::/ecstasks.slice/ecstasks-{TASK}.slice/docker-{'a1' * 32}.scope\n", TASK),
        (f"4:memory:/ecs/{TASK}/{'a1' * 32}\n", TASK),
        (f"4:memory:/ecs/production/{TASK}/{'a1' * 32}\n", TASK),
        (f"4:memory:/ecs/{BATCH}/{'a1' * 32}\n", BATCH),
    ],
)
def test_a_control_group_names_the_job_of_a_process_whose_environment_was_cleared(
    tmp_path: Path, cgroup: str, job: str
) -> None:
    process(tmp_path, 7, {"PATH": "/bin"}, cgroup=cgroup)

    assert list(owners(look(tmp_path, 7))) == [job]


@pytest.mark.parametrize(
    "cgroup",
    [
        "0::/system.slice/docker-4c1f.scope\n",
        f"0::/docker/{'a1' * 32}\n",
        "0::/system.slice/slurmd.service\n",
        "0::/system.slice/slurmstepd.scope/system\n",
        "0::/user.slice/job_12\n",
        "nonsense\n\0",
        "",
    ],
)
def test_other_control_groups_name_nobody(tmp_path: Path, cgroup: str) -> None:
    process(tmp_path, 7, {"PATH": "/bin"}, cgroup=cgroup)

    assert look(tmp_path, 7) == Contribution(jobs=())


def test_on_ec2_the_metadata_address_is_the_containers_and_not_a_task(tmp_path: Path) -> None:
    uri = {"ECS_CONTAINER_METADATA_URI_V4": "http://169.254.170.2/v4/0cd4f4f3-1c6a-4d4f-9e0b-7a8c2f1d3e5b"}
    process(tmp_path, 7, uri)
    process(tmp_path, 8, uri, cgroup=f"0::/ecstasks.slice/ecstasks-{TASK}.slice/docker-ab.scope\n")

    assert owners(look(tmp_path, 7)) == {}
    assert owners(look(tmp_path, 8)) == {TASK: None}


def test_a_metadata_file_names_the_family_of_a_task(tmp_path: Path) -> None:
    directory = process(tmp_path, 7, {"ECS_CONTAINER_METADATA_FILE": "/opt/ecs/metadata/1/file.json"})
    target = directory / "root/opt/ecs/metadata/1"
    target.mkdir(parents=True)
    arn = f"arn:aws:ecs:us-west-2:123456789012:task/production/{TASK}"
    (target / "file.json").write_text(json.dumps({"TaskARN": arn, "TaskDefinitionFamily": "llama", "Networks": []}))

    assert look(tmp_path, 7).jobs == (Job(TASK, "llama", "", False, None, KnownBy.ECS),)


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "garbage", "huge"])
def test_a_metadata_file_that_is_none_is_passed_over(tmp_path: Path, kind: str) -> None:
    directory = process(tmp_path, 7, {"ECS_CONTAINER_METADATA_FILE": "/file.json"})
    (directory / "root").mkdir()
    path = directory / "root/file.json"
    arn = json.dumps({"TaskARN": f"arn:aws:ecs:us-west-2:1:task/{TASK}"})
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "elsewhere").write_text(arn)
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text(arn[:-1] + " " * (70_000 if kind == "huge" else 0) + ("}" if kind == "huge" else ""))

    assert look(tmp_path, 7) == Contribution(jobs=())


def test_a_launcher_that_clears_the_environment_does_not_hide_the_job(tmp_path: Path) -> None:
    process(tmp_path, 100, {"AWS_BATCH_JOB_ID": f"{BATCH}#0"}, stat="100 (bash) S 1 100")
    process(tmp_path, 200, stat="200 (sh -c (a b) c) S 100 100")
    # Its control group says which ECS task runs the Batch job: true, and not what was submitted.
    process(tmp_path, 300, cgroup=f"0::/ecstasks.slice/ecstasks-{TASK}.slice/x.scope\n", stat="300 (python3) S 200 1")

    assert list(owners(look(tmp_path, 300))) == [BATCH]


def test_a_line_of_parents_is_followed_only_so_far(tmp_path: Path) -> None:
    # Two processes that are each other's parent: a pid was taken again while the line was read.
    process(tmp_path, 7, stat="7 (a) S 8 1")
    process(tmp_path, 8, stat="8 (b) S 7 1")
    process(tmp_path, 20, {"SLURM_JOB_ID": "1"}, stat="20 (slurmstepd) S 1 1")
    for pid in range(21, 32):
        process(tmp_path, pid, stat=f"{pid} (sh) S {pid - 1} 1")

    assert owners(look(tmp_path, 7)) == {}
    assert owners(look(tmp_path, 27)) == {"1": None}
    assert owners(look(tmp_path, 31)) == {}


def test_no_sign_of_a_job_is_no_job(tmp_path: Path) -> None:
    process(tmp_path, 7, {"PATH": "/bin"})

    assert look(tmp_path, 7, 8) == Contribution(jobs=())


def test_an_environment_that_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(tmp_path, 7, {"SLURM_JOB_ID": "1"})
    process(tmp_path, 8, {"SLURM_JOB_ID": "1"}, cgroup="0::/system.slice/slurmstepd.scope/job_1/step_0\n")
    opened = open

    def refuse(path: str, *arguments: Any, **named: Any) -> Any:
        if path.endswith("/environ"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **named)

    # The tests run as root, who may read everything.
    monkeypatch.setattr("builtins.open", refuse)
    seen = look(tmp_path, 7, 8)

    assert seen.problems == ("the environment of 2 processes may not be read, such as of pid 7",)
    # The control group tells of 8.
    assert owners(seen) == {"1": (8,)}


def test_where_processes_are_hidden_registrations_still_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(tmp_path, job_id="a")
    process(tmp_path, 7, {"SLURM_JOB_ID": "1"}, stat="7 (python3) S 1 1")
    opened = open

    def refuse(path: str, *arguments: Any, **named: Any) -> Any:
        if "/7/" in path:
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **named)

    monkeypatch.setattr("builtins.open", refuse)

    seen = look(tmp_path, 7)

    assert owners(seen) == {"a": None}
    assert len(seen.problems) == 1


def test_the_only_registration_takes_every_process_and_names_a_schedulers_job(tmp_path: Path) -> None:
    register(tmp_path, job_id="a", name="llama", owner="ada", cores=32, tokens_wanted=1e9)
    process(tmp_path, 7, {"AWS_BATCH_JOB_ID": BATCH})
    process(tmp_path, 8)

    assert look(tmp_path, 7, 8, 9) == Contribution(jobs=(Job("a", "llama", "ada", registered=True),))


def test_a_registration_takes_the_processes_of_its_id_and_leaves_the_others_to_theirs(tmp_path: Path) -> None:
    register(tmp_path, job_id=BATCH, name="llama", owner="ada")
    process(tmp_path, 7, {"AWS_BATCH_JOB_ID": f"{BATCH}#1"})
    process(tmp_path, 8, {"SLURM_JOB_ID": "812"})
    process(tmp_path, 9)

    seen = look(tmp_path, 7, 8, 9)

    # None: whatever the others do not claim, which are 7 and 9.
    assert owners(seen) == {BATCH: None, "812": (8,)}
    assert [job.registered for job in seen.jobs or ()] == [True, False]


def test_of_two_registrations_each_takes_its_own_and_what_is_nobodys_is_said(tmp_path: Path) -> None:
    register(tmp_path, job_id="36_2", cores=2)
    register(tmp_path, job_id="b", cores=30)
    process(tmp_path, 7, {"SLURM_JOB_ID": "37", "SLURM_ARRAY_JOB_ID": "36", "SLURM_ARRAY_TASK_ID": "2"})
    process(tmp_path, 8)

    seen = look(tmp_path, 7, 8)

    # Promised cores are a hint about the order, and no proof.
    assert owners(seen) == {"b": (), "36_2": (7,)}
    assert seen.problems == ("2 jobs are registered, and 1 processes do not say whose they are",)


def test_a_compiler_names_the_job_before_any_runtime_can(tmp_path: Path) -> None:
    process(tmp_path, 50, {"SLURM_JOB_ID": "9"}, comm="neuronx-cc")

    assert list(owners(look(tmp_path))) == ["9"]


def test_a_process_that_has_ended_keeps_its_job_while_its_runtime_is_listed(tmp_path: Path) -> None:
    jobs = collector(tmp_path)
    directory = process(tmp_path, 7, {"SLURM_JOB_ID": "9"}, stat="7 (python3) S 1 1")
    process(tmp_path, 8, stat="8 (python3) S 1 1")
    assert owners(jobs.collect(Request(0, (7, 8)))) == {"9": (7,)}

    (directory / "stat").write_text("7 (python3) Z 1 1")
    first, second = jobs.collect(Request(60, (7, 8))), jobs.collect(Request(120, (7, 8)))

    assert owners(second) == {"9": (7,)}
    # Ended since the last report, it is no news; a minute later its runtime should have gone.
    assert (first.ended, second.ended) == ((), (7,))
    assert jobs.collect(Request(180, (8,))).ended == ()


def test_processes_of_a_host_that_cannot_be_seen_have_not_ended(tmp_path: Path) -> None:
    jobs = collector(tmp_path)

    assert [jobs.collect(Request(now, (7,))).ended for now in (0, 60, 120)] == [(), (), ()]


def test_a_bad_registration_file_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    register(tmp_path, job_id="a", cores=2)
    (tmp_path / "jobs/b.json").write_text('{"name": "without an id"}')
    (tmp_path / "jobs/c.json").write_text('{"job_id": "a"}')

    seen = look(tmp_path)

    assert list(owners(seen)) == ["a"]
    assert "b.json" in seen.problems[0]
    assert "job_id" in seen.problems[0]
    assert seen.problems[1] == "job registration c.json: a is another file's"


def test_a_folder_of_registrations_is_read_only_so_far(tmp_path: Path) -> None:
    for index in range(70):
        register(tmp_path, job_id=f"job-{index:02d}")

    seen = look(tmp_path)

    assert len(seen.jobs or ()) == 64
    assert seen.problems == ("70 job registrations; only the first 64 are read",)


@pytest.mark.parametrize(
    ("text", "value"), [(":job\n", "job"), ("café", "caf"), ("", "unattributed"), ("x" * 300, "x" * 255)]
)
def test_a_job_id_becomes_what_cloudwatch_takes(text: str, value: str) -> None:
    assert dimension_value(text) == value

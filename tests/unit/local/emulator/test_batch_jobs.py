"""What becomes of Batch's jobs: nodes asked for, attempts, retries, time-outs; in memory, without a server."""

from typing import Any

import pytest

from local.emulator.batch.job import Job
from local.emulator.batch.jobs import DEFINITION, Jobs
from local.emulator.batch.scheduler import TIMED_OUT, Host, Scheduler
from local.emulator.capacity.batch import ENVIRONMENT, QUEUE, Batch
from local.emulator.clock import EmulatorClock
from local.emulator.resources.store import Resource, ResourceStore

REGION = "us-east-2"
PLACE = f"arn:aws:batch:{REGION}:000000000000"
NODES, JOBS = f"{PLACE}:compute-environment/nodes", f"{PLACE}:job-queue/jobs"
START = 1_790_000_040.0


# Those of stacks/constructs/training_job.py, as its template has them.
RULES = [
    {"Action": "RETRY", "OnStatusReason": "Host EC2*"},
    {"Action": "RETRY", "OnExitCode": "75"},
    {"Action": "RETRY", "OnReason": "CannotPullContainerError*"},
    {"Action": "RETRY", "OnStatusReason": "Task failed to start*"},
    {"Action": "EXIT", "OnReason": "*"},
]


def definition(**changes: Any) -> dict[str, Any]:
    container = {
        "Image": "training:local",
        "Environment": [{"Name": "FI_PROVIDER", "Value": "efa"}, {"Name": "A", "Value": "definition"}],
        "Volumes": [{"Name": "markers", "Host": {"SourcePath": "/run/neuron-fleet"}}],
        "MountPoints": [{"SourceVolume": "markers", "ContainerPath": "/run/neuron-fleet", "ReadOnly": True}],
        "LogConfiguration": {"LogDriver": "awslogs", "Options": {"awslogs-group": "/jobs"}},
    }
    nodes = {"NumNodes": 2, "MainNode": 0, "NodeRangeProperties": [{"TargetNodes": "0:", "Container": container}]}
    retries = {"Attempts": 3, "EvaluateOnExit": RULES}
    return {"NodeProperties": nodes, "RetryStrategy": retries, "Timeout": {"AttemptDurationSeconds": 3600}} | changes


class Account:
    """A queue over one environment, whose instances a test brings and takes."""

    def __init__(self, **changes: Any) -> None:
        store, self.clock = ResourceStore(), EmulatorClock()
        order = {"ComputeEnvironmentOrder": [{"Order": 1, "ComputeEnvironment": NODES}]}
        for kind, name, properties in (
            (ENVIRONMENT, NODES, {}),
            (QUEUE, JOBS, order),
            (DEFINITION, "train", definition(**changes)),
        ):
            store.put(Resource(kind, name, REGION, "stack", name, properties, {}))
        list(self.clock.advance(START))
        self.jobs = Jobs(Batch(store), self.clock)
        self.scheduler = Scheduler(self.jobs)
        self.hosts: list[str] = []

    def submit(self, name: str = "job", **request: Any) -> str:
        asked = {"jobName": name, "jobQueue": JOBS, "jobDefinition": "train", **request}
        return str(self.jobs.submit(REGION, asked)["jobId"])

    def see(self, *instances: str) -> None:
        """These instances run, and their ECS agents have joined."""
        self.hosts = list(instances)
        self.scheduler.see(REGION, [Host(each, NODES, f"10.0.0.{n}") for n, each in enumerate(instances, start=1)])
        for each in instances:
            if each not in self.scheduler.members:
                self.scheduler.join(REGION, each)

    def tasks(self, instance: str, **state: Any) -> list[dict[str, Any]]:
        """What an instance has to do, after it has said this of its task."""
        told = self.scheduler.report(REGION, instance, [])
        return self.scheduler.report(REGION, instance, [{"task": told[0]["task"], **state}]) if state else told

    def run(self) -> None:
        """Every node says that its container runs."""
        for each in self.hosts:
            self.tasks(each, status="RUNNING")

    def stop(self, instance: str, code: int | None = 0, reason: str = "") -> None:
        self.tasks(instance, status="STOPPED", exit_code=code, reason=reason)

    def pass_seconds(self, seconds: float) -> None:
        list(self.clock.advance(self.clock.now() + seconds))
        self.scheduler.settle(REGION)

    def job(self, name: str) -> dict[str, Any]:
        (found,) = self.jobs.describe({"jobs": [name]})["jobs"]
        return dict(found)


@pytest.fixture
def account() -> Account:
    return Account()


def running(account: Account) -> str:
    job = account.submit()
    account.see("i-1", "i-2")
    account.run()
    assert account.job(job)["status"] == "RUNNING"
    return job


def test_a_job_asks_for_nodes_and_starts_when_all_of_them_have_joined(account: Account) -> None:
    job = account.submit()
    assert account.scheduler.nodes_wanted(REGION, NODES) == 2
    account.see("i-1")
    assert account.job(job)["status"] == "RUNNABLE"
    account.see("i-1", "i-2")
    assert account.job(job)["status"] == "STARTING"
    assert account.scheduler.busy() == {"i-1", "i-2"}
    account.tasks("i-1", status="RUNNING")
    assert account.job(job)["status"] == "STARTING"
    account.tasks("i-2", status="RUNNING")
    assert account.job(job)["status"] == "RUNNING"


def test_a_container_is_told_what_definition_submission_and_batch_say(account: Account) -> None:
    override = {"command": ["python", "x"], "environment": [{"name": "A", "value": "submission"}]}
    overrides = {"nodePropertyOverrides": [{"targetNodes": "0:", "containerOverrides": override}]}
    job = account.submit(nodeOverrides=overrides)
    account.see("i-1", "i-2")
    main, other = (account.tasks(each)[0]["container"] for each in ("i-1", "i-2"))
    assert main["command"] == ["python", "x"]
    assert main["mounts"] == [{"container": "/run/neuron-fleet", "host": "/run/neuron-fleet", "read_only": True}]
    assert main["environment"] == {
        "FI_PROVIDER": "efa",
        "A": "submission",
        "AWS_BATCH_CE_NAME": "nodes",
        "AWS_BATCH_JQ_NAME": "jobs",
        "AWS_BATCH_JOB_ID": f"{job}#0",
        "AWS_BATCH_JOB_ATTEMPT": "1",
        "AWS_BATCH_JOB_NODE_INDEX": "0",
        "AWS_BATCH_JOB_NUM_NODES": "2",
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
    }
    # The main node's address is the others' alone to know.
    assert other["environment"]["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] == "10.0.0.1"


def test_the_main_nodes_success_is_the_jobs(account: Account) -> None:
    job = running(account)
    account.pass_seconds(600)
    account.stop("i-1")
    # Batch ends a multi-node job with its main node.
    assert [task["run"] for task in account.tasks("i-2")] == [False]
    assert account.job(job)["status"] == "RUNNING"
    account.stop("i-2", 143)
    assert account.job(job)["status"] == "SUCCEEDED"
    assert account.scheduler.nodes_wanted(REGION, NODES) == 0
    (attempt,) = account.job(job)["attempts"]
    assert attempt["container"]["exitCode"] == 0
    assert attempt["stoppedAt"] - attempt["startedAt"] == 600_000
    assert [account.job(f"{job}#{index}")["status"] for index in (0, 1)] == ["SUCCEEDED", "FAILED"]


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (75, "", "STARTING"),
        (None, "CannotPullContainerError: no such image", "STARTING"),
        (None, "ResourceInitializationError", "STARTING"),
        (1, "", "FAILED"),
        (137, "OutOfMemoryError: Container killed due to memory usage", "FAILED"),
    ],
)
def test_the_deployed_rules_say_what_is_tried_again(
    account: Account, code: int | None, reason: str, status: str
) -> None:
    job = running(account)
    account.stop("i-1", code, reason)
    account.stop("i-2", 143)
    # The nodes are there, so that the next attempt starts at once.
    assert account.job(job)["status"] == status


def test_a_lost_main_node_is_tried_again_elsewhere_and_a_lost_other_one_is_the_main_nodes_business(
    account: Account,
) -> None:
    job = running(account)
    account.see("i-1")
    assert account.job(job)["status"] == "RUNNING"
    account.stop("i-1", 75)
    assert account.job(job)["status"] == "RUNNABLE"
    account.see("i-1", "i-3")
    account.run()
    assert account.job(f"{job}#1")["attempts"][0]["statusReason"] == "Host EC2 (instance i-2) terminated."
    account.see("i-3")
    account.stop("i-3", 143)
    (first, second) = account.job(job)["attempts"]
    assert (first["container"]["exitCode"], "exitCode" in second["container"]) == (75, False)
    assert second["statusReason"] == "Host EC2 (instance i-1) terminated."
    account.see("i-3", "i-4")
    assert account.tasks("i-3")[0]["container"]["environment"]["AWS_BATCH_JOB_ATTEMPT"] == "3"


def test_attempts_come_to_an_end(account: Account) -> None:
    job = running(account)
    for _ in range(2):
        account.stop("i-1", 75)
        account.stop("i-2", 75)
        account.run()
    account.stop("i-1", 75)
    account.stop("i-2", 75)
    assert (account.job(job)["status"], len(account.job(job)["attempts"])) == ("FAILED", 3)


def test_an_attempt_that_takes_too_long_is_ended_and_not_tried_again(account: Account) -> None:
    job = running(account)
    account.pass_seconds(3599)
    assert all(task["run"] for task in account.tasks("i-1"))
    account.pass_seconds(1)
    assert [task["run"] for each in ("i-1", "i-2") for task in account.tasks(each)] == [False, False]
    account.stop("i-1", 75)
    account.stop("i-2", 75)
    assert (account.job(job)["status"], account.job(job)["statusReason"]) == ("FAILED", TIMED_OUT)


def test_termination_stops_containers_first_and_cancellation_leaves_what_has_started(account: Account) -> None:
    job = running(account)
    account.jobs.cancel({"jobId": job, "reason": "no"})
    assert all(task["run"] for task in account.tasks("i-1"))
    account.jobs.terminate({"jobId": job, "reason": "enough"})
    assert account.job(job)["status"] == "RUNNING"
    for each in ("i-1", "i-2"):
        account.stop(each, 75)
    assert (account.job(job)["status"], account.job(job)["statusReason"]) == ("FAILED", "enough")
    waiting = account.submit("two")
    account.jobs.cancel({"jobId": waiting, "reason": "no"})
    assert account.job(waiting)["status"] == "FAILED"


def test_a_second_job_waits_for_the_first_ones_nodes_and_nobody_overtakes(account: Account) -> None:
    first = running(account)
    second, third = account.submit("second"), account.submit("third", nodeOverrides={"numNodes": 1})
    account.see("i-1", "i-2", "i-3")
    assert [account.job(each)["status"] for each in (second, third)] == ["RUNNABLE", "RUNNABLE"]
    assert account.scheduler.nodes_wanted(REGION, NODES) == 5
    account.stop("i-1")
    account.stop("i-2")
    assert account.job(first)["status"] == "SUCCEEDED"
    assert [account.job(each)["status"] for each in (second, third)] == ["STARTING", "STARTING"]


def test_a_node_that_drains_or_never_joined_is_given_nothing(account: Account) -> None:
    account.scheduler.see(REGION, [Host("i-0", NODES, "10.0.0.9")])
    job = account.submit(nodeOverrides={"numNodes": 1})
    assert account.job(job)["status"] == "RUNNABLE"
    account.scheduler.join(REGION, "i-0", drains=True)
    account.scheduler.settle(REGION)
    assert account.job(job)["status"] == "RUNNABLE"
    with pytest.raises(ValueError, match="i-9: no running instance"):
        account.scheduler.join(REGION, "i-9")
    with pytest.raises(ValueError, match="i-9 has not joined"):
        account.scheduler.report(REGION, "i-9", [])
    with pytest.raises(ValueError, match="has no task arn:x"):
        account.scheduler.report(REGION, "i-0", [{"task": "arn:x", "status": "RUNNING"}])


def test_whoever_looks_at_another_region_takes_no_node(account: Account) -> None:
    job = running(account)
    account.scheduler.see("us-west-2", [])

    account.scheduler.settle(REGION)
    assert account.job(job)["status"] == "RUNNING"
    assert len(account.tasks("i-1")) == 1


def test_a_job_that_is_submitted_while_somebody_looks_is_seen_the_next_time(account: Account) -> None:
    class Watched(Job):
        """State machines submit from threads of their own, between two lines of whoever looks."""

        @property
        def status(self) -> str:
            account.submit("another")
            return Job.status.fget(self)  # type: ignore[attr-defined, no-any-return]

    held = account.jobs._jobs[account.submit()]
    account.jobs._add(Watched(held.entry | {"jobId": "w"}, JOBS))

    assert [job.entry["jobId"] for job in account.jobs.living()][-1] == "w"
    assert len(account.jobs._jobs) == 3

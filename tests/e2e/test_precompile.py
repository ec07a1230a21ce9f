"""The precompilation of a model on the embedded AWS: its state machine, its function, and what runs in its container.

The embedded Batch keeps jobs and runs none: the test runs a job's command itself, as the container would, with a
compiler of its own, and then says how the job ended.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from agents.collectors.collector import Request
from agents.collectors.compile_cache.collector import CompileCacheCollector
from cli.main import app
from environments import loader
from fleet import metrics, naming
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.eviction import EvictionPolicy
from fleet.compile_cache.request import read
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT
from tests.support import doctored, standin_compiler
from tests.support.compiled_graphs import content, graph
from tests.support.embedded_client import client
from tests.support.needs import needs
from workload.compile_cache.adapters import DynamoLeases
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.upkeep import cleaning

FLEET: Final = "trn1-pretrain"
REPOSITORY: Final = Path(__file__).parents[2]

pytestmark = needs("the CDK command line")


@dataclass
class Deployed:
    control: EmulatorControl
    folder: Path
    queue: str
    bucket: str
    table: str

    @property
    def machine(self) -> str:
        machines = client("stepfunctions").list_state_machines()["stateMachines"]
        (arn,) = [m["stateMachineArn"] for m in machines if m["name"] == naming.precompile_state_machine(ENVIRONMENT)]
        return str(arn)

    def start(self, **request: Any) -> str:
        answer = client("stepfunctions").start_execution(stateMachineArn=self.machine, input=json.dumps(request))
        return str(answer["executionArn"])

    def waiting(self) -> list[dict[str, Any]]:
        return list(client("batch").list_jobs(jobQueue=self.queue, jobStatus="RUNNABLE")["jobSummaryList"])

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    def told(self, local: str) -> dict[str, str]:
        """What a container is told whose own disk is the folder ``local``."""
        return {
            **os.environ,
            "PATH": standin_compiler.install(self.programs),
            "PYTHONPATH": str(REPOSITORY),
            "NEURON_FLEET_CACHE_SHARED": str(self.folder / "shared"),
            "NEURON_FLEET_CACHE_LOCAL": str(self.folder / local),
            "NEURON_FLEET_CACHE_TABLE": self.table,
        }

    def run(self, execution: str, job: dict[str, Any], local: str) -> subprocess.CompletedProcess[str]:
        """What the container of ``job`` would do, and then how Batch says that it ended."""
        done = self.execute(execution, job, local)
        self.end([done.returncode], [job])
        return done

    def execute(self, execution: str, job: dict[str, Any], local: str) -> subprocess.CompletedProcess[str]:
        """What the container of ``job`` would do, with the folder ``local`` as its own disk."""
        (self.folder / "shared").mkdir(exist_ok=True)
        told = self.told(local) | {"AWS_BATCH_JOB_ID": job["jobId"], "NEURON_FLEET_CACHE_BUCKET": self.bucket}
        _, *command = asked(execution)["command"]
        return subprocess.run(
            [sys.executable, *command], env=told, capture_output=True, text=True, timeout=60, check=False
        )

    def end(self, codes: list[int], jobs: list[dict[str, Any]]) -> None:
        """Batch says how ``jobs`` ended; the queue has no others then."""
        how = {"statusReason": "Essential container in task exited"}
        ended = [
            {**job, **how, "status": "FAILED" if code else "SUCCEEDED", "container": {"exitCode": code}}
            for code, job in zip(codes, jobs, strict=True)
        ]
        self.control.put_jobs(doctored.REGION, self.queue, ended)


def request(**changes: Any) -> dict[str, Any]:
    return {
        "fleet": FLEET,
        "model": "llama/2-7b",
        "model_version": "r1",
        "sdk_version": "2.30",
        "sequence_lengths": [4096, 2048],
        "command": ["torchrun", "train.py"],
    } | changes


def artifact(**changes: Any) -> Artifact:
    return read(request(**changes)).artifact


def asked(execution: str) -> dict[str, Any]:
    """The job that an execution has asked for, as its history has it."""
    events = client("stepfunctions").get_execution_history(executionArn=execution)["events"]
    entered = [event["stateEnteredEventDetails"] for event in events if "stateEnteredEventDetails" in event]
    job: dict[str, Any] = next(json.loads(each["input"])["job"] for each in entered if each["name"] == "Compile")
    return job


def states(execution: str) -> list[str]:
    events = client("stepfunctions").get_execution_history(executionArn=execution)["events"]
    return [event["stateEnteredEventDetails"]["name"] for event in events if "stateEnteredEventDetails" in event]


def eventually(found: Callable[[], Any], seconds: float = 40) -> Any:
    end = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.1)
    return answer


def ended(execution: str) -> dict[str, Any]:
    def look() -> Any:
        seen = client("stepfunctions").describe_execution(executionArn=execution)
        return seen if seen["status"] != "RUNNING" else None

    answer: dict[str, Any] = eventually(look)
    return answer


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("precompile")
    with doctored.embedded_account(folder) as control:
        doctored.deploy(loader.load(ENVIRONMENT), folder)
        parameters = client("ssm")

        def told(name: str) -> dict[str, str]:
            value: dict[str, str] = json.loads(parameters.get_parameter(Name=name)["Parameter"]["Value"])
            return value

        place = told(naming.compile_cache_place_parameter(ENVIRONMENT))
        queue = told(naming.precompile_place_parameter(ENVIRONMENT, FLEET))["queue"]
        yield Deployed(control, folder, queue, place["bucket"], place["table"])


def test_a_model_is_compiled_once_and_then_is_there(deployed: Deployed) -> None:
    execution = deployed.start(**request())
    (job,) = eventually(deployed.waiting)
    assert job["jobName"] == f"precompile-llama-2-7b-{artifact().prefix.rpartition('/')[2]}"
    listed = json.loads(CliRunner().invoke(app, ["jobs", "list", ENVIRONMENT, "--json"]).stdout)
    assert [(each["owner"], each["fleet"], each["nodes"]) for each in listed] == [("foundation-models", FLEET, 1)]
    done = deployed.run(execution, job, "first")
    assert done.returncode == 0, done.stderr

    seen = ended(execution)
    assert seen["status"] == "SUCCEEDED", seen
    output = json.loads(seen["output"])
    assert (output["prefix"], output["graphs"], output["compiled"]) == (artifact().prefix, 2, True)
    assert (deployed.folder / "shared" / str(graph(2)) / "model.neff").exists()

    again = deployed.start(**request(sequence_lengths=[2048, 4096]))
    output = json.loads(ended(again)["output"])
    assert (output["graphs"], output["compiled"]) == (2, False)
    assert states(again) == ["Begin", "WhatToDo", "Ready"]
    assert deployed.waiting() == []


def test_of_two_that_want_the_same_one_compiles_and_the_other_waits_for_it(deployed: Deployed) -> None:
    wanted = request(model_version="r2")
    both = [deployed.start(**wanted), deployed.start(**wanted)]
    (job,) = eventually(deployed.waiting)
    (waits,) = eventually(lambda: [each for each in both if "Wait" in states(each)])
    (compiles,) = [each for each in both if each != waits]
    assert len(deployed.waiting()) == 1

    assert deployed.run(compiles, job, "second").returncode == 0

    assert json.loads(ended(compiles)["output"])["compiled"] is True
    assert json.loads(ended(waits)["output"])["compiled"] is False
    assert "Compile" not in states(waits)


def test_two_artifacts_that_share_graphs_at_once_compile_each_of_them_once(deployed: Deployed) -> None:
    wanted = {"r6": "graphs=51,52", "r7": "graphs=52,51,53"}
    executions = [
        deployed.start(**request(model_version=version, command=["torchrun", graphs]))
        for version, graphs in wanted.items()
    ]
    waiting = eventually(lambda: found if len(found := deployed.waiting()) == 2 else None)
    names = {job["jobName"].rpartition("-")[2]: job for job in waiting}
    jobs = [names[artifact(model_version=version).prefix.rpartition("/")[2]] for version in wanted]

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(deployed.execute, executions, jobs, wanted))
    deployed.end([each.returncode for each in done], jobs)

    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    seen = [ended(each) for each in executions]
    assert [json.loads(each["output"]).get("graphs") for each in seen] == [2, 3], seen
    compiled = standin_compiler.compiled(deployed.programs)
    assert sorted(number for number in compiled if number in (51, 52, 53)) == [51, 52, 53]


def test_a_training_node_waits_for_a_graph_that_a_precompilation_is_at_work_on(deployed: Deployed) -> None:
    execution = deployed.start(**request(model_version="r8", command=["torchrun", "graphs=54"]))
    (job,) = eventually(deployed.waiting)
    node = deployed.folder / "node"
    told = deployed.told("node") | {
        "NEURON_FLEET_CACHE_ON_MISS": "wait",
        "NEURON_COMPILE_CACHE_URL": str(node),
        "NEURON_FLEET_RANKS_PER_NODE": "32",
    }
    train = [sys.executable, "-m", "examples.launch", "train", "graphs=51,54,55"]

    with ThreadPoolExecutor(1) as pool:
        precompiles = pool.submit(deployed.run, execution, job, "eighth")
        eventually(lambda: 54 in standin_compiler.compiled(deployed.programs))
        done = subprocess.run(train, env=told, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, precompiles.result().returncode) == (0, 0), done.stderr
    # The first was there before, the second was waited for, and nobody but this node wants the third.
    assert f"{graph(54)}: fetched" in done.stderr
    compiled = standin_compiler.compiled(deployed.programs)
    assert sorted(number for number in compiled if number in (51, 54, 55)) == [51, 54, 55]
    for number in (51, 54, 55):
        assert (node / str(graph(number)) / "model.neff").read_bytes() == content(graph(number), "model.neff")
    # What it compiled for itself is neither in the shared tier nor in the table: it may write neither.
    assert not (deployed.folder / "shared" / str(graph(55))).exists()
    leases = [item["id"]["S"] for item in client("dynamodb").scan(TableName=deployed.table)["Items"]]
    assert str(graph(54)) in leases
    assert str(graph(55)) not in leases


def test_a_compilation_that_fails_says_why_and_leaves_no_artifact(deployed: Deployed) -> None:
    wanted = request(model_version="r3", command=["torchrun", "graphs=1,13"])
    execution = deployed.start(**wanted)
    (job,) = eventually(deployed.waiting)
    waits = deployed.start(**wanted)
    eventually(lambda: "Wait" in states(waits))
    assert deployed.run(execution, job, "third").returncode == 1

    seen = ended(execution)
    assert (seen["status"], seen["error"]) == ("FAILED", "NotPrecompiled")
    assert seen["cause"] == (
        f"job {job['jobId']}: of 2 graphs 1 failed, such as {graph(13)}: ERROR [neuronx-cc]: {standin_compiler.WORDS}"
    )
    # Who has waited wanted the same, and does not pay for a second node.
    assert ended(waits)["cause"] == seen["cause"]
    found = client("s3").list_objects_v2(Bucket=deployed.bucket, Prefix=artifact(model_version="r3").prefix)
    assert [each["Key"].rpartition("/")[2] for each in found["Contents"]] == ["failure.json"]

    # Who asks later wants it tried again.
    later = deployed.start(**wanted)
    (job,) = eventually(deployed.waiting)
    client("batch").terminate_job(jobId=job["jobId"], reason="Host EC2 (instance i-1) terminated.")
    assert ended(later)["cause"] == f"job {job['jobId']}: Host EC2 (instance i-1) terminated."


def test_who_dies_while_it_compiles_is_replaced(deployed: Deployed) -> None:
    wanted = request(model_version="r4")
    first = deployed.start(**wanted)
    eventually(deployed.waiting)
    client("stepfunctions").stop_execution(executionArn=first)

    second = deployed.start(**wanted)

    jobs = eventually(lambda: each if len(each := deployed.waiting()) == 2 else None)
    deployed.control.put_jobs(doctored.REGION, deployed.queue, [{**job, "status": "FAILED"} for job in jobs])
    assert ended(second)["status"] == "FAILED"


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        (
            {"fleet": "inf2-chat"},
            "fleet: there is no training fleet inf2-chat here; known: trn1-pretrain, trn2-frontier",
        ),
        ({"command": "torchrun"}, 'command is a list of words, such as ["torchrun", "train.py"], not "torchrun"'),
    ],
)
def test_a_request_that_cannot_be_carried_out_says_what_would_be_right(
    deployed: Deployed, changes: dict[str, Any], cause: str
) -> None:
    seen = ended(deployed.start(**request(**changes)))
    assert (seen["status"], seen["cause"]) == ("FAILED", cause)
    assert deployed.waiting() == []


def test_a_model_version_that_is_put_into_the_bucket_is_compiled(deployed: Deployed) -> None:
    wanted = request(model_version="r5")
    key = f"models/{FLEET}/llama/2-7b/r5.json"
    client("s3").put_object(Bucket=deployed.bucket, Key=key, Body=json.dumps(wanted).encode())

    (job,) = eventually(deployed.waiting)
    executions = client("stepfunctions").list_executions(stateMachineArn=deployed.machine, statusFilter="RUNNING")
    (execution,) = [each["executionArn"] for each in executions["executions"]]
    assert deployed.run(execution, job, "fifth").returncode == 0
    assert json.loads(ended(execution)["output"])["prefix"] == artifact(model_version="r5").prefix


def test_what_the_shared_tier_has_let_go_of_comes_back_from_s3_and_is_not_compiled(deployed: Deployed) -> None:
    execution = deployed.start(**request(model_version="r9", command=["torchrun", "graphs=21,22"]))
    (job,) = eventually(deployed.waiting)
    assert deployed.run(execution, job, "ninth").returncode == 0
    assert json.loads(ended(execution)["output"])["graphs"] == 2
    shared = SharedTier(deployed.folder / "shared")
    promoted = shared.find(graph(21))
    everything = EvictionPolicy(age=timedelta(microseconds=1), grace=timedelta(0))
    cleaning.evict(shared, DynamoLeases(deployed.table, doctored.REGION), everything)
    assert shared.listing() == {}
    node = deployed.folder / "late"
    told = deployed.told("late") | {
        "NEURON_FLEET_CACHE_BUCKET": deployed.bucket,
        "NEURON_FLEET_CACHE_ON_MISS": "wait",
        "NEURON_COMPILE_CACHE_URL": str(node),
        "NEURON_FLEET_RANKS_PER_NODE": "32",
    }
    train = [sys.executable, "-m", "examples.launch", "train", "graphs=21,22,56"]
    node.mkdir()
    agent = CompileCacheCollector(str(node), Path("/proc"))
    agent.collect(Request(time.time()))

    done = subprocess.run(train, env=told, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
    # Once, by the precompilation; what nobody has compiled yet is compiled here, as ever.
    compiled = standin_compiler.compiled(deployed.programs)
    assert sorted(number for number in compiled if number in (21, 22, 56)) == [21, 22, 56], done.stderr
    for number in (21, 22, 56):
        assert (node / str(graph(number)) / "model.neff").read_bytes() == content(graph(number), "model.neff")
    assert f"{graph(21)}: restored" in done.stderr
    counted = agent.collect(Request(time.time())).metrics
    assert (counted[metrics.COMPILE_CACHE_HITS], counted[metrics.COMPILATION_EVENTS]) == (2, 1)
    # A job may not write it, and does not.
    assert shared.listing() == {}

    # Another model that has one of them: neither is it compiled, and from here on all nodes have it.
    execution = deployed.start(**request(model_version="r10", command=["torchrun", "graphs=21,24"]))
    (job,) = eventually(deployed.waiting)
    assert deployed.run(execution, job, "tenth").returncode == 0
    assert json.loads(ended(execution)["output"])["graphs"] == 2
    compiled = standin_compiler.compiled(deployed.programs)
    assert sorted(number for number in compiled if number in (21, 24)) == [21, 24]
    assert sorted(shared.listing()) == [graph(21), graph(24)]
    again = shared.find(graph(21))
    assert promoted is not None
    assert again is not None
    assert (again.holder, again.seconds) == (promoted.holder, promoted.seconds)

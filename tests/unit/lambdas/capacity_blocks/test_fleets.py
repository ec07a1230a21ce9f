"""A fleet is told through Batch and on its nodes; what is as it should be is left alone."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import ANY, Stubber

from agents.collectors.collector import Request
from agents.collectors.markers import MarkerCollector
from lambdas.capacity_blocks.fleets import RUN_DIRECTORY, BatchFleets
from tests.support.block_world import DEPLOYED
from tests.support.client_shapes import shaped

Stubbed = Callable[[str], tuple[Any, Stubber]]
NAMES = {"computeEnvironments": ["ce"]}
TARGETS = [{"Key": "tag:environment", "Values": ["prod"]}, {"Key": "tag:fleet", "Values": ["frontier"]}]


class Told:
    """The adapter over stubs of Batch and Systems Manager, and what each is to be asked next."""

    def __init__(self, stubbed: Stubbed) -> None:
        batch, self.batch = stubbed("batch")
        ssm, self.ssm = stubbed("ssm")
        self.fleets = BatchFleets(batch, ssm, "prod", {"frontier": DEPLOYED})

    def is_now(self, state: str, least: int, most: int) -> None:
        nodes = {"type": "EC2", "minvCpus": least, "maxvCpus": most, "subnets": ["subnet-1"]}
        entry = {
            "computeEnvironmentName": "ce",
            "computeEnvironmentArn": "ce",
            "ecsClusterArn": "cluster",
            "state": state,
            "computeResources": nodes,
        }
        self.batch.add_response("describe_compute_environments", {"computeEnvironments": [entry]}, NAMES)

    def becomes(self, **what: object) -> None:
        self.batch.add_response("update_compute_environment", {}, {"computeEnvironment": "ce", **what})

    def lists(self, status: str, *jobs: str) -> None:
        found = [{"jobId": job, "jobName": job} for job in jobs]
        asked = {"jobQueue": "queue", "jobStatus": status}
        self.batch.add_response("list_jobs", {"jobSummaryList": found}, asked)

    def runs(self, command: str) -> None:
        asked = {
            "DocumentName": "AWS-RunShellScript",
            "Targets": TARGETS,
            "Parameters": {"commands": ["mkdir -p /run/neuron-fleet", command], "executionTimeout": ["60"]},
            "TimeoutSeconds": 300,
            "MaxConcurrency": "100%",
            "MaxErrors": "100%",
            "Comment": "Capacity Block of frontier",
        }
        self.ssm.add_response("send_command", {"Command": {}}, asked)


@pytest.fixture
def told(stubbed: Stubbed) -> Told:
    return Told(stubbed)


def test_a_delivered_block_of_two_nodes_holds_two_times_192_vcpus(told: Told) -> None:
    told.is_now("ENABLED", 0, 1536)
    told.becomes(state="ENABLED", computeResources={"minvCpus": 384, "maxvCpus": 384})

    told.fleets.scale("frontier", 2)


def test_a_fleet_that_is_as_it_should_be_is_not_updated(told: Told) -> None:
    told.is_now("ENABLED", 384, 384)
    told.fleets.scale("frontier", 2)
    told.is_now("DISABLED", 0, 384)
    told.fleets.scale("frontier", 0)


def test_a_fleet_that_is_let_go_of_stays_closed(told: Told) -> None:
    told.is_now("DISABLED", 384, 384)
    told.becomes(computeResources={"minvCpus": 0})

    told.fleets.scale("frontier", 0)


def test_an_extended_block_opens_again_without_the_markers_of_the_drain(told: Told) -> None:
    told.is_now("DISABLED", 384, 384)
    told.runs("rm -f /run/neuron-fleet/checkpoint /run/neuron-fleet/drain")
    told.becomes(state="ENABLED", computeResources={"minvCpus": 384, "maxvCpus": 384})

    told.fleets.scale("frontier", 2)


def test_a_checkpoint_is_asked_for_on_every_node_of_the_fleet(told: Told) -> None:
    path = "/run/neuron-fleet/checkpoint"
    told.runs(f"printf '%s\\n' 'Capacity Block ends 2026-12-18T11:30:00Z' > {path}.new && mv {path}.new {path}")

    told.fleets.checkpoint("frontier", datetime(2026, 12, 18, 11, 30, tzinfo=UTC))


def test_a_drain_closes_the_fleet_first_and_then_marks_its_nodes(told: Told) -> None:
    path = "/run/neuron-fleet/drain"
    told.is_now("ENABLED", 384, 384)
    told.becomes(state="DISABLED")
    told.runs(f"printf '%s\\n' 'Capacity Block ends' > {path}.new && mv {path}.new {path}")

    told.fleets.drain("frontier")


def test_a_fleet_is_closed_even_when_its_nodes_cannot_be_reached(told: Told) -> None:
    told.is_now("ENABLED", 384, 384)
    told.becomes(state="DISABLED")
    told.ssm.add_client_error("send_command", "ThrottlingException", http_status_code=400)

    with pytest.raises(ClientError, match="ThrottlingException"):
        told.fleets.drain("frontier")


def test_jobs_that_start_or_run_are_terminated_and_looked_for_again(told: Told) -> None:
    told.is_now("ENABLED", 384, 384)
    told.becomes(state="DISABLED")
    told.lists("STARTING", "job-1")
    told.lists("RUNNING", "job-2")
    for job in ("job-1", "job-2"):
        told.batch.add_response("terminate_job", {}, {"jobId": job, "reason": ANY})
    assert told.fleets.stop("frontier") is False

    told.is_now("DISABLED", 384, 384)
    told.lists("STARTING")
    told.lists("RUNNING")
    assert told.fleets.stop("frontier") is True


def test_one_job_that_cannot_be_terminated_does_not_save_the_others(told: Told) -> None:
    told.is_now("DISABLED", 384, 384)
    told.lists("STARTING")
    told.lists("RUNNING", "job-1", "job-2")
    told.batch.add_client_error("terminate_job", "ServerException", http_status_code=500)
    told.batch.add_response("terminate_job", {}, {"jobId": "job-2", "reason": ANY})

    with pytest.raises(ClientError, match="ServerException"):
        told.fleets.stop("frontier")


def test_a_compute_environment_that_is_gone_is_named(told: Told) -> None:
    told.batch.add_response("describe_compute_environments", {"computeEnvironments": []}, NAMES)

    with pytest.raises(LookupError, match="does not show compute environment ce"):
        told.fleets.scale("frontier", 2)


def test_the_agent_sees_the_markers_that_the_commands_write(tmp_path: Path) -> None:
    commands: list[str] = []

    class Nodes:
        def send_command(self, **request: Any) -> dict[str, Any]:
            commands.extend(request["Parameters"]["commands"])
            return {}

    class Disabled:
        def describe_compute_environments(self, **_: object) -> dict[str, Any]:
            return {
                "computeEnvironments": [
                    {"computeEnvironmentName": "ce", "computeEnvironmentArn": "ce", "state": "DISABLED"}
                ]
            }

    fleets = BatchFleets(shaped("batch", Disabled()), shaped("ssm", Nodes()), "prod", {"frontier": DEPLOYED})
    fleets.checkpoint("frontier", datetime(2026, 12, 18, 11, 30, tzinfo=UTC))
    fleets.drain("frontier")
    for command in commands:
        subprocess.run(["sh", "-c", command.replace(RUN_DIRECTORY, str(tmp_path))], check=True)

    seen = MarkerCollector(tmp_path).collect(Request(0, ()))

    assert ([phase.name for phase in seen.phases], seen.draining) == (["checkpoint"], "Capacity Block ends")
    assert (tmp_path / "checkpoint").read_text() == "Capacity Block ends 2026-12-18T11:30:00Z\n"

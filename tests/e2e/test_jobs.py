"""`fleet jobs` over a deployed environment: found by its parameter, submitted once, listed, shown, stopped."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from typer.testing import CliRunner, Result

from cli.main import app
from environments import loader
from fleet import metrics, naming
from local.deployment import ENVIRONMENT
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.needs import needs

EXAMPLE: Final = Path("examples/pretraining/job.yaml")
EXAMPLES: Final = sorted(EXAMPLE.parent.parent.glob("*/job.yaml"))
STATUSES: Final = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")

pytestmark = needs("the CDK command line")


def fleet(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["jobs", *arguments])


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("jobs")
    with doctored.embedded_account(folder):
        doctored.deploy(loader.load(ENVIRONMENT), folder)
        yield folder


def written(folder: Path, **changes: Any) -> str:
    """The example with ``changes``; it asks for all four nodes of the local fleet."""
    content = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    content["model"]["config"] = str((EXAMPLE.parent / content["model"]["config"]).resolve())
    file = folder / "job.yaml"
    file.write_text(yaml.safe_dump(content | changes), encoding="utf-8")
    return str(file)


def jobs_in_the_queue() -> list[dict[str, Any]]:
    parameter = client("ssm").get_parameter(Name=naming.job_place_parameter(ENVIRONMENT, "trn1-pretrain"))
    queue = json.loads(parameter["Parameter"]["Value"])["queue"]
    batch = client("batch")
    return [job for status in STATUSES for job in batch.list_jobs(jobQueue=queue, jobStatus=status)["jobSummaryList"]]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        # 128 ranks are not copies of 8 x 5.
        ({"parallel": {"tensor": 8, "pipeline": 5}}, "world-size"),
        ({"parallel": {"tensor": 1}}, "model-does-not-fit"),
        ({"neuron_sdk": "2.32", "framework": "nxd-training"}, "framework-ended"),
        ({"image": ""}, "image-missing"),
        ({"nodes": 8}, "too-many-nodes"),
    ],
)
def test_a_mistake_puts_nothing_into_the_queue(deployed: Path, changes: dict[str, Any], code: str) -> None:
    answer = fleet("submit", written(deployed, **changes), "--yes")
    (line,) = answer.stderr.splitlines()
    assert answer.exit_code == 1
    assert f"[{code}]" in line
    assert jobs_in_the_queue() == []


def test_a_job_is_submitted_shown_with_its_figures_and_stopped(deployed: Path) -> None:
    answer = fleet("submit", written(deployed), "--yes", "--json")
    assert answer.exit_code == 0, answer.output
    submitted = json.loads(answer.stdout)["submitted"]
    (job,) = jobs_in_the_queue()
    assert (job["jobId"], job["jobName"]) == (submitted["job_id"], submitted["job_name"])

    (listed,) = json.loads(fleet("list", ENVIRONMENT, "--json").stdout)
    assert (listed["job"], listed["owner"], listed["nodes"]) == ("llama-2-7b-pretraining", "foundation-models", 4)
    assert listed["status"] == "RUNNABLE"

    report(submitted["job_id"])
    shown = json.loads(fleet("show", ENVIRONMENT, "llama-2-7b-pretraining", "--json").stdout)
    # Four nodes with 5,000 tokens a second each.
    assert shown["tokens_per_second"] == 20_000
    assert shown["tensor_engine_utilization"] == 40
    assert shown["tokens_wanted"] == 20e9

    stopped = fleet("stop", ENVIRONMENT, submitted["job_name"], "--yes", "--json")
    assert json.loads(stopped.stdout)["outcome"] == "terminated"
    (ended,) = json.loads(fleet("list", ENVIRONMENT, "--all", "--json").stdout)
    assert (ended["status"], ended["reason"]) == ("FAILED", "Stopped by `fleet jobs stop`.")
    assert "is over: FAILED" in fleet("stop", ENVIRONMENT, submitted["job_name"], "--yes").stderr


def test_every_shipped_example_is_submitted_as_it_is(deployed: Path) -> None:
    for file in EXAMPLES:
        name = yaml.safe_load(file.read_text(encoding="utf-8"))["name"]
        answer = fleet("submit", str(file), "--yes")
        assert (answer.exit_code, answer.stderr) == (0, ""), answer.output
        assert f"submitted {name}-" in answer.stdout
    waiting = [job for job in jobs_in_the_queue() if job["status"] == "RUNNABLE"]
    assert len(waiting) == len(EXAMPLES) >= 3
    for job in waiting:
        assert fleet("stop", ENVIRONMENT, job["jobName"], "--yes").exit_code == 0


def report(job_id: str) -> None:
    """What the agents of four nodes say of the job for three minutes."""
    minute = datetime.now(UTC).replace(second=0, microsecond=0)
    dimensions = {"Environment": ENVIRONMENT, "Fleet": "trn1-pretrain", "JobId": job_id}
    figures = {metrics.TOKENS_PER_SECOND.name: 5_000.0, metrics.TENSOR_ENGINE_UTILIZATION.name: 40.0}
    client("cloudwatch").put_metric_data(
        Namespace=metrics.NAMESPACE,
        MetricData=[
            {
                "MetricName": name,
                "Dimensions": [{"Name": key, "Value": of} for key, of in dimensions.items()],
                "Timestamp": minute - timedelta(minutes=ago),
                "Value": value,
            }
            for ago in (1, 2, 3)
            for name, value in figures.items()
            for _ in range(4)
        ],
    )

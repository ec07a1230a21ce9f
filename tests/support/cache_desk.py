"""`fleet cache` over a bucket, a lease table, executions and jobs in memory; requests are checked as botocore would."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from typer.testing import CliRunner, Result

from cli.account import AwsError
from cli.main import app
from fleet.compile_cache import index, lease, lease_item, whereabouts
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import Index
from fleet.compile_cache.lease import Row
from tests.support.jobs import QUEUE, RecordedBatch

MACHINE: Final = "arn:aws:states:us-east-2:111122223333:stateMachine:neuron-fleet-prod-precompile"
DEFINITION: Final = "arn:aws:batch:us-east-2:111122223333:job-definition/precompile:3"
COMPILER: Final = "neuronxcc-2.21.18209.0+043b1bf7"
LLAMA: Final = Artifact("meta/llama", "r1", "2.28", (4096,))
GRAPHS: Final = tuple(Graph(COMPILER, f"MODULE_{number}+abcd") for number in range(3))
NOTHING: Final = lease.Row(0, 0, lease.State.FREE, "", 0.0, 0.0)
OPTIONS: Final = (
    "--model", "meta/llama", "--model-version", "r1", "--sdk-version", "2.28", "--sequence-lengths", "4096",
)  # fmt: skip
PLACES: Final = {
    "/neuron-fleet/prod/compile-cache": {"table": "leases", "bucket": "artifacts"},
    "/neuron-fleet/prod/precompile/trn1-pretrain": {
        "queue": QUEUE, "definition": DEFINITION, "share": "foundationmodels",
        "tags": {"fleet": "trn1-pretrain", "owner": "foundation-models"},
    },
}  # fmt: skip


class CacheAccount(RecordedBatch):
    """What a cache's account answers. Pages are small, so that every list has several."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, bytes] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.executions: list[dict[str, Any]] = []
        self.steps: list[str] = []
        self.ends: Callable[[dict[str, Any]], None] = lambda _: None
        self.work_ends = "SUCCEEDED"
        jobs_place = self.answers["ssm:get_parameter"]
        self.answers |= {
            "ssm:get_parameter": lambda asked: _parameter(asked, jobs_place),
            "s3:list_objects_v2": self._list,
            "s3:get_object": self._get,
            "s3:put_object": self._upload,
            "s3:delete_objects": self._delete,
            "dynamodb:scan": self._scan,
            "dynamodb:put_item": self._put,
            "stepfunctions:list_executions": self._executions,
            "stepfunctions:describe_execution": self._describe,
            "stepfunctions:get_execution_history": self._history,
            "stepfunctions:start_execution": self._start,
            "batch:describe_jobs": self._job,
        }

    def archive(self, artifact: Artifact = LLAMA, graphs: tuple[Graph, ...] = GRAPHS) -> None:
        """An artifact as ``workload.compile_cache`` leaves it."""
        self.objects[index.key(artifact)] = Index(artifact, graphs).encode()
        self.objects |= {index.graph_key(artifact, graph): b"x" * 1000 for graph in graphs}
        for graph in graphs:
            self.objects[whereabouts.key(graph)] = whereabouts.encode(graph, index.graph_key(artifact, graph))

    def lease(self, graph: Graph, row: Row) -> None:
        """A row of the table."""
        self.rows[str(graph)] = lease_item.swap(graph, None, row)["Item"]

    def execution(self, status: str, content: object, cause: str = "", minutes: float = 30) -> str:
        """One that began ``minutes`` ago; its ARN."""
        arn = f"{MACHINE.replace('stateMachine', 'execution')}:run-{len(self.executions)}"
        began = datetime.now(UTC) - timedelta(minutes=minutes)
        self.executions.append(
            {"executionArn": arn, "status": status, "startDate": began, "input": json.dumps(content), "cause": cause}
        )
        return arn

    def _list(self, asked: dict[str, Any]) -> dict[str, Any]:
        keys = sorted(key for key in self.objects if key.startswith(asked["Prefix"]))
        start = int(asked.get("ContinuationToken", "0"))
        written = datetime.now(UTC) - timedelta(days=3)
        page = [
            {"Key": key, "Size": len(self.objects[key]), "LastModified": written} for key in keys[start : start + 2]
        ]
        more = start + 2 < len(keys)
        return {"Contents": page, "IsTruncated": more, **({"NextContinuationToken": str(start + 2)} if more else {})}

    def _get(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["Key"] not in self.objects:
            raise AwsError("AWS refused s3:get_object: NoSuchKey: no", "NoSuchKey")
        return {"Body": io.BytesIO(self.objects[asked["Key"]])}

    def _upload(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.objects[asked["Key"]] = asked["Body"]
        return {}

    def _delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        for each in asked["Delete"]["Objects"]:
            self.objects.pop(each["Key"])
        return {}

    def _scan(self, asked: dict[str, Any]) -> dict[str, Any]:
        names = sorted(self.rows)
        start = names.index(asked["ExclusiveStartKey"]["id"]["S"]) + 1 if "ExclusiveStartKey" in asked else 0
        page = names[start : start + 2]
        last = {"LastEvaluatedKey": {"id": {"S": page[-1]}}} if start + 2 < len(names) else {}
        return {"Items": [self.rows[name] for name in page], **last}

    def _put(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = asked["Item"]["id"]["S"]
        if self.rows[name]["revision"] != asked["ExpressionAttributeValues"][":seen"]:
            raise AwsError("AWS refused dynamodb:put_item", lease_item.LOST)
        self.rows[name] = asked["Item"]
        return {}

    def _executions(self, asked: dict[str, Any]) -> dict[str, Any]:
        same = [each for each in self.executions if each["status"] == asked["statusFilter"]]
        return {"executions": [{"executionArn": each["executionArn"]} for each in same]}

    def _describe(self, asked: dict[str, Any]) -> dict[str, Any]:
        (found,) = (each for each in self.executions if each["executionArn"] == asked["executionArn"])
        answer = dict(found)
        if found["status"] == "RUNNING" and len(self.steps) <= 1:
            # It is over at the next look.
            self.ends(found)
        return answer

    def _history(self, _: dict[str, Any]) -> dict[str, Any]:
        name = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0] if self.steps else "Compile"
        entered = {"type": "TaskStateEntered", "stateEnteredEventDetails": {"name": name}}
        return {"events": [{"type": "TaskScheduled"}, entered]}

    def _start(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"executionArn": self.execution("RUNNING", json.loads(asked["input"]), minutes=0)}

    def _job(self, asked: dict[str, Any]) -> dict[str, Any]:
        states = ["RUNNABLE", "RUNNING", self.work_ends]
        seen = len(self.requests("batch:describe_jobs"))
        container = {"exitCode": 1, "reason": "x.neff: Permission denied"} if self.work_ends == "FAILED" else {}
        return {"jobs": [{"jobId": asked["jobs"][0], "status": states[min(seen, 3) - 1], "container": container}]}


class CacheDesk:
    """The command, and the account that it is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.account = CacheAccount()
        for module in ("status", "warm", "promote", "purge"):
            monkeypatch.setattr(f"cli.cache.{module}.Account", lambda _: self.account)
        for module in ("warm", "promote", "purge"):
            monkeypatch.setattr(f"cli.cache.{module}._POLL_SECONDS", 0.0)

    def run(self, *arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, ["cache", *arguments], input=answer, env={"COLUMNS": "240"})


def _parameter(asked: dict[str, Any], others: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    if asked["Name"] in PLACES:
        return {"Parameter": {"Value": json.dumps(PLACES[asked["Name"]])}}
    return others(asked)

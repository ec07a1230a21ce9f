"""`fleet jobs` over a pool's table in memory, whose requests are checked against botocore's own description."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import TypeAdapter

from fleet.pool.job import PoolJob
from fleet.pool.observed import PoolDeployment
from tests.support.jobs import Desk, refused
from tests.support.pool_world import PLACE

TABLE: Final = "neuron-fleet-staging-pool-jobs"
_JOB: Final = TypeAdapter(PoolJob)
_PLACE: Final = TypeAdapter(PoolDeployment)


class PoolDesk(Desk):
    """The command over staging, whose pool has four Spot nodes and whose table is ``items``."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch)
        self.content |= {"environment": "staging", "fleet": "trn1-spot", "nodes": 4}
        self.content["parallel"] = {"tensor": 8, "pipeline": 4}
        self.items: dict[str, dict[str, Any]] = {}
        place = _PLACE.dump_json(PLACE).decode()
        self.batch.answers |= {
            "ssm:get_parameter": lambda asked: {"Parameter": {"Value": place}} if "trn1-spot" in asked["Name"] else
            refused("ParameterNotFound")(asked),
            "dynamodb:put_item": self._put,
            "dynamodb:query": lambda asked: {"Items": list(self.items.values())},
            "dynamodb:update_item": self._update,
            "cloudwatch:get_metric_data": lambda asked: {"MetricDataResults": []},
        }  # fmt: skip

    @property
    def jobs(self) -> list[PoolJob]:
        return [_JOB.validate_json(item["body"]["S"]) for item in self.items.values()]

    def put(self, job: PoolJob) -> None:
        key = f"job/{job.order.job_id}"
        self.items[key] = {
            "fleet": {"S": job.order.fleet},
            "item": {"S": key},
            "body": {"S": _JOB.dump_json(job).decode()},
        }

    def _put(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert (asked["TableName"], asked["ConditionExpression"]) == (TABLE, "attribute_not_exists(body)")
        name = asked["Item"]["item"]["S"]
        if name in self.items:
            return refused("ConditionalCheckFailedException")(asked)
        self.items[name] = asked["Item"]
        return {}

    def _update(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.items[asked["Key"]["item"]["S"]]["stop"] = asked["ExpressionAttributeValues"][":who"]
        return {}

    def shown(self, *arguments: str) -> Any:
        answer = self.run(*arguments, "--json")
        assert answer.exit_code == 0, answer.output
        return json.loads(answer.stdout)

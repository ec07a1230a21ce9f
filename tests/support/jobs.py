"""`fleet jobs` over a Batch in memory, whose requests are checked against botocore's own description of the API."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import botocore.session
import pytest
import yaml
from botocore import xform_name
from botocore.validate import validate_parameters
from typer.testing import CliRunner, Result

from cli.account import Account, AwsError
from cli.main import app

Answer = Callable[[dict[str, Any]], dict[str, Any]]
QUEUE: Final = "arn:aws:batch:us-east-2:111122223333:job-queue/pretrain"
DEFINITION: Final = "arn:aws:batch:us-east-2:111122223333:job-definition/pretrain:7"
IMAGE: Final = "111122223333.dkr.ecr.us-east-2.amazonaws.com/training:llama-2026-11"
BLOCK_ENDS: Final = datetime(2099, 1, 1, tzinfo=UTC)
LLAMA_7B: Final = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "intermediate_size": 11008,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}


def job() -> dict[str, Any]:
    """Llama 2 7B on all of prod's 16 trn1.32xlarge: 16 x 32 = 512 ranks, 8 x 4 x 16."""
    return {
        "environment": "prod",
        "fleet": "trn1-pretrain",
        "name": "llama-7b",
        "owner": "foundation-models",
        "nodes": 16,
        "command": ["python", "train.py"],
        "parallel": {"tensor": 8, "pipeline": 4},
        "model": {"config": "llama.json"},
        "checkpoint": {"location": "s3://checkpoints/llama-7b", "every_steps": 500},
        "tokens_wanted": 1e9,
    }


class RecordedBatch(Account):
    """An account that answers by ``answers`` and remembers every call."""

    def __init__(self) -> None:
        super().__init__("us-east-2")
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.jobs: list[dict[str, Any]] = []
        place = {"queue": QUEUE, "definition": DEFINITION, "image": IMAGE, "nodes": 16}
        self.answers: dict[str, Answer] = {
            "ssm:get_parameter": lambda _: {"Parameter": {"Value": json.dumps(place)}},
            "ecr:describe_images": lambda _: {"imageDetails": [{}]},
            "dynamodb:get_item": lambda _: {},
            "batch:submit_job": self.submit,
            "batch:list_jobs": lambda asked: {
                "jobSummaryList": [each for each in self.jobs if each["jobName"] in asked["filters"][0]["values"]]
            },
        }

    def submit(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.jobs.append({"jobId": f"job-{len(self.jobs) + 1}", "jobName": asked["jobName"]})
        return self.jobs[-1]

    def requests(self, call: str) -> list[dict[str, Any]]:
        return [asked for name, asked in self.calls if name == call]

    def _call(self, service: str, method: str, /, *, once: bool, **request: object) -> Any:
        model = botocore.session.get_session().get_service_model(service)
        (operation,) = [name for name in model.operation_names if xform_name(name) == method]
        shape = model.operation_model(operation).input_shape
        assert shape is not None
        validate_parameters(request, shape)
        assert once == (method in {"submit_job"})
        self.calls.append((f"{service}:{method}", request))
        return self.answers[f"{service}:{method}"](request)


class Desk:
    """The command, and the account that it is given."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.batch = folder, RecordedBatch()
        (folder / "llama.json").write_text(json.dumps(LLAMA_7B), encoding="utf-8")
        self.content = job()
        self.details: dict[str, dict[str, Any]] = {}
        for module in ("request", "submit", "show", "logs", "stop"):
            monkeypatch.setattr(f"cli.jobs.{module}.Account", self._account)
        for pause in ("batch_submit._LOOK_SECONDS", "logs._POLL_SECONDS", "stop._POLL_SECONDS"):
            monkeypatch.setattr(f"cli.jobs.{pause}", 0.0)

    def _account(self, region: str) -> RecordedBatch:
        assert region == "us-east-2"
        return self.batch

    def submit(self, *options: str, answer: str | None = None) -> Result:
        file = self.folder / "job.yaml"
        file.write_text(yaml.safe_dump(self.content), encoding="utf-8")
        return CliRunner().invoke(app, ["jobs", "submit", str(file), *options], input=answer)

    def run(self, *arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, ["jobs", *arguments], input=answer)

    @property
    def submitted(self) -> list[dict[str, Any]]:
        return self.batch.requests("batch:submit_job")


def lost(_: dict[str, Any]) -> dict[str, Any]:
    """No answer in time, which says nothing about what was done."""
    raise AwsError("AWS did not answer batch:submit_job: read timeout", is_lost=True)


def refused(code: str, message: str = "no") -> Answer:
    def answer(_: dict[str, Any]) -> dict[str, Any]:
        raise AwsError(f"AWS refused it: {code}: {message}", code)

    return answer

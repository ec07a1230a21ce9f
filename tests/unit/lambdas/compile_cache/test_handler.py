"""The function as Step Functions calls it: its answers, and the figures that it leaves."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from lambdas.compile_cache import adapters, handler
from lambdas.compile_cache.adapters import Settings
from tests.unit.lambdas.compile_cache.conftest import Account
from tests.unit.lambdas.compile_cache.test_service import LLAMA, REQUEST

TOLD = {"ENVIRONMENT": "prod", "RUNS_TABLE": "runs", "BUCKET": "bucket", "FLEETS": '["trn1-pretrain"]'}
CONTEXT: Any = SimpleNamespace(aws_request_id="1")


@pytest.fixture
def deployed(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    for name, value in TOLD.items():
        monkeypatch.setenv(name, value)
    handler._settings.cache_clear()
    handler._dependencies.cache_clear()
    monkeypatch.setattr(adapters, "dependencies", account.world)
    return account


def counted(text: str) -> dict[str, float]:
    events = [json.loads(line) for line in text.splitlines() if '"_aws"' in line]
    names = [metric["Name"] for e in events for each in e["_aws"]["CloudWatchMetrics"] for metric in each["Metrics"]]
    return {name: sum(float(e.get(name, [0])[0]) for e in events) for name in names}


def test_a_model_is_begun_and_concluded_and_counted(deployed: Account, capsys: pytest.CaptureFixture[str]) -> None:
    begun = handler.lambda_handler({"action": "begin", "execution": "me", "request": REQUEST, "before": {}}, CONTEXT)
    assert counted(capsys.readouterr().out) == {}
    deployed.there[LLAMA.prefix] = 3

    ended = handler.lambda_handler({"action": "conclude", "execution": "me", "begun": begun}, CONTEXT)

    assert (ended["step"], ended["graphs"], ended["compiled"]) == ("ready", 3, True)
    assert counted(capsys.readouterr().out) == {"PrecompilationsDone": 1}
    json.dumps(ended)


def test_a_failure_is_counted_and_its_reason_logged(
    deployed: Account, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    begun = handler.lambda_handler({"action": "begin", "execution": "me", "request": REQUEST, "before": {}}, CONTEXT)

    handler.lambda_handler({"action": "conclude", "execution": "me", "begun": begun}, CONTEXT)

    assert counted(capsys.readouterr().out) == {"PrecompilationsFailed": 1}
    assert vars(caplog.records[-1])["reason"] == f"{LLAMA.prefix}: not compiled"


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(ValidationError, match="RUNS_TABLE"):
        Settings.load({name: value for name, value in TOLD.items() if name != "RUNS_TABLE"})

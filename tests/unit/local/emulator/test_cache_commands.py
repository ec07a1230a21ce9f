"""`fleet cache` on the embedded AWS, over what the library on a node wrote."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from fleet import naming
from fleet.compile_cache import lease
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.lease import State, Terms
from tests.support.compiled_graphs import compiler, graph
from tests.unit.local.emulator.conftest import Emulator
from workload.compile_cache.adapters import DynamoLeases, S3Objects
from workload.compile_cache.flight.single_flight import CompileCache
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier

BUCKET, TABLE = "cache-commands", "cache-commands"
LLAMA = Artifact("meta/llama", "r1", "2.28", (4096,))
OPTIONS = ("--model", "meta/llama", "--model-version", "r1", "--sdk-version", "2.28", "--sequence-lengths", "4096")
FAILS = {"StartAt": "Begin", "States": {"Begin": {"Type": "Pass", "Next": "Failed"}, "Failed": {
    "Type": "Fail", "Error": "NotPrecompiled", "Cause": "2 of 5 graphs failed"}}}  # fmt: skip


@pytest.fixture(scope="module")
def deployed(emulator: Emulator) -> Emulator:
    """What two stacks make of the cache: a table, a bucket, where they are, and a pipeline that always fails."""
    emulator.client("dynamodb").create_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    emulator.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-east-2"})
    emulator.client("ssm").put_parameter(
        Name=naming.compile_cache_place_parameter("local"),
        Value=json.dumps({"table": TABLE, "bucket": BUCKET}),
        Type="String",
        Overwrite=True,
    )
    emulator.client("stepfunctions").create_state_machine(
        name=naming.precompile_state_machine("local"),
        definition=json.dumps(FAILS),
        roleArn="arn:aws:iam::000000000000:role/pipeline",
    )
    return emulator


@pytest.fixture(autouse=True)
def endpoint(deployed: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", deployed.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setattr("cli.cache.warm._POLL_SECONDS", 0.1)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["cache", *arguments], env={"COLUMNS": "240"})


def status() -> Any:
    return json.loads(run("status", "local", "--json").stdout)


def test_what_a_node_archived_is_checked_listed_and_purged(tmp_path: Path) -> None:
    before = run("check", "local", *OPTIONS)
    (tmp_path / "shared").mkdir()
    shared, leases = SharedTier(tmp_path / "shared"), DynamoLeases(TABLE, "us-east-2")
    node = CompileCache(LocalTier(tmp_path / "local"), shared, leases)
    graphs = [graph(number) for number in range(3)]
    for each in graphs:
        node.obtain(each, compiler(each))
    ColdTier(S3Objects(BUCKET, "us-east-2"), shared, node.local).archive(LLAMA, graphs)

    assert (before.exit_code, run("check", "local", *OPTIONS).exit_code) == (1, 0)
    assert "was never compiled" in before.stderr
    ((artifact,), rest) = status()["artifacts"], status()["leases"]
    assert (artifact["model"], artifact["graphs"], artifact["graphs_missing"]) == ("meta/llama", 3, 0)
    assert rest["at rest"] >= 3
    assert run("purge", "local", "--artifact", artifact["hash"], "--yes").exit_code == 0
    assert run("check", "local", *OPTIONS).exit_code == 1


def test_a_failure_that_is_remembered_is_purged_for_the_nodes(tmp_path: Path) -> None:
    leases, wanted = DynamoLeases(TABLE, "us-east-2"), graph(77)
    held = lease.take(None, "node-1", time.time(), Terms())
    failed = lease.fail(held, "NCC_EXTP004: no such op", time.time(), Terms())
    assert leases.swap(wanted, None, held)
    assert leases.swap(wanted, held, failed)

    assert [each["reason"] for each in status()["leases_not_at_rest"]] == ["NCC_EXTP004: no such op"]
    assert run("purge", "local", "--failed", "--yes").exit_code == 0

    row = leases.read(wanted)
    assert row is not None
    assert (row.state, row.token, row.failures) == (State.FREE, 1, 0)


def test_an_execution_is_started_followed_and_told_as_it_ended() -> None:
    answer = run("warm", "local", "--fleet", "trn1-pretrain", *OPTIONS, "--", "python", "train.py")

    assert (answer.exit_code, answer.stderr.splitlines()) == (
        1,
        ["meta/llama r1, SDK 2.28, sequence lengths 4096: not compiled: 2 of 5 graphs failed"],
    )
    ((failed, *_), running) = status()["failed"], status()["running"]
    assert (failed["fleet"], failed["cause"], running) == ("trn1-pretrain", "2 of 5 graphs failed", [])

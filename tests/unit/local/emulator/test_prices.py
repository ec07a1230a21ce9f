"""The price refresh, with its real adapters, against the lists of an embedded AWS, and the commands that read it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from cli.main import app
from lambdas.prices import adapters, handler, service
from lambdas.prices.adapters import Settings
from lambdas.prices.source import Question
from local.control import EmulatorControl
from local.emulator_process import aws_environment, pointed_at
from tests.unit.local.emulator.conftest import Emulator, start_emulator

REGION, TABLE = "us-east-2", "neuron-fleet-prod-prices"
TRN1, TRN2, INF2 = "trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge"
SETTINGS = Settings(ENVIRONMENT="prod", PRICE_REGION=REGION, PRICE_TABLE=TABLE, INSTANCE_TYPES=json.dumps([TRN1, TRN2]))


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    running = start_emulator(tmp_path_factory.mktemp("prices"))
    with pointed_at(aws_environment(running.url, "000000000000", REGION)):
        running.client("dynamodb").create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield running
    running.process.terminate()
    running.process.wait(timeout=60)


def refresh() -> service.Refresh:
    types = handler.wanted_types(SETTINGS)
    return service.refresh(adapters.dependencies(SETTINGS), Question(types, REGION, datetime.now(UTC), lambda: True))


def shown(*arguments: str) -> dict[str, dict[str, object]]:
    answer = CliRunner().invoke(app, ["prices", "show", "prod", "--json", *arguments])
    assert answer.exit_code == 0, answer.output
    return {each["key"]: each for each in json.loads(answer.stdout)}


def test_a_refresh_keeps_every_kind_and_the_command_shows_it(account: Emulator) -> None:
    EmulatorControl(account.url).put_price(REGION, INF2, "savings-plan", 9.1)
    done = refresh()

    assert done.problems == ()
    kept = shown()
    today = datetime.now(UTC).date().isoformat()
    for key, usd in {
        f"{REGION}/{TRN1}/on-demand": 21.5,
        f"{REGION}/{TRN2}/capacity-block": 35.7608,
        f"{REGION}/{INF2}/savings-plan/Compute, 1 y, No Upfront": 9.1,
        f"{REGION}/{TRN1}/spot": 2.15,
    }.items():
        price = kept[key]["price"]
        assert isinstance(price, dict)
        # A fee is in whole cents: 858.26 for 24 hours at 35.7608.
        assert price["usd_per_hour"] == pytest.approx(usd, abs=1e-4)
        assert (price["as_of"], kept[key]["stale"]) == (today, None)
    # The list has it at $0.00.
    assert f"{REGION}/{TRN2}/on-demand" not in kept


def test_a_wild_figure_waits_until_somebody_accepts_it(account: Emulator) -> None:
    key = f"{REGION}/{TRN1}/on-demand"
    refresh()
    EmulatorControl(account.url).put_price(REGION, TRN1, "on-demand", 100.0)

    assert "more than 3 times off $21.5" in refresh().problems[0]
    held = shown()[key]["held"]
    assert isinstance(held, dict)
    assert held["usd_per_hour"] == 100.0
    answer = CliRunner().invoke(app, ["prices", "accept", "prod", key])
    assert (answer.exit_code, "100.00 USD/h, on-demand" in answer.output) == (0, True)
    price = shown()[key]["price"]
    assert isinstance(price, dict)
    assert price["usd_per_hour"] == 100.0
    assert CliRunner().invoke(app, ["prices", "accept", "prod", key]).exit_code == 1


def test_plans_are_made_at_refreshed_prices_where_they_are_asked_for(account: Emulator) -> None:
    EmulatorControl(account.url).put_price(REGION, INF2, "on-demand", 11.11)
    refresh()
    options = ["plan", "compare", "--json", *(f"--option=name={n},type={INF2},throughput=550" for n in "ab")]

    offline = json.loads(CliRunner().invoke(app, options).stdout)
    asked = json.loads(CliRunner().invoke(app, [*options, "--prices", "prod"]).stdout)
    assert (offline["given"][0]["usd_per_hour"], asked["given"][0]["usd_per_hour"]) == (12.98127, 11.11)
    assert f"on-demand, {REGION}, {datetime.now(UTC).date()} (AWS Price List)" in asked["given"][0]["prices"]


@pytest.mark.usefixtures("account")
def test_an_environment_without_a_table_says_so() -> None:
    answer = CliRunner().invoke(app, ["prices", "show", "dev"])

    assert answer.exit_code == 1
    assert "environment dev has no price table" in answer.output

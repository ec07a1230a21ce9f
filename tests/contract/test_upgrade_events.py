"""Agents of a released version and of this tree side by side for an hour: both ledgers and the pager read them all."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from fleet.ledger import UNITS, usd
from tests.contract.test_event_schema import SCHEMA, wrong
from tests.support.pager import Pager, alarm_change
from tests.support.upgrade import hour, releases
from tests.support.upgrade.booked import booked

HERE: Final = Path(hour.__file__).parent
OLD_NODES: Final = (0, 1)
NEW_NODES: Final = (2, 3)
NODE_MINUTES: Final = 4 * hour.MINUTES
ENVIRONMENT: Final = "replay"


@dataclass(frozen=True)
class Hour:
    """What either wrote, all of it as CloudWatch Logs has it, and the released version's own promise."""

    version: str
    old: list[dict[str, Any]]
    new: list[dict[str, Any]]
    metrics: dict[str, Any]
    schema: dict[str, Any]

    @property
    def all(self) -> list[dict[str, Any]]:
        return sorted([*self.old, *self.new], key=lambda event: (event["minute"], event["node"]))


@pytest.fixture(scope="module", params=releases.RELEASES)
def together(request: pytest.FixtureRequest) -> Hour:
    version: str = request.param
    folder = releases.required(version)
    told = json.loads(releases.run(version, HERE / "hour.py", "events", *map(str, OLD_NODES)))
    schema = json.loads((folder / "agents/schemas/node-log-event.schema.json").read_text(encoding="utf-8"))
    return Hour(version, told["events"], hour.events(NEW_NODES), told["metrics"], schema)


def old_ledger(together: Hour, folder: Path) -> dict[str, Any]:
    """What the ledger of the released version makes of all events."""
    file = folder / "events.jsonl"
    file.write_text("\n".join(map(json.dumps, together.all)), encoding="utf-8")
    told: dict[str, Any] = json.loads(
        releases.run(together.version, HERE / "booked.py", str(file), ENVIRONMENT, str(folder / "old"))
    )
    return told


def dollars(ledger: dict[str, Any]) -> Decimal:
    return usd(sum(line["amount"] for line in ledger["lines"]))


def test_each_half_of_the_fleet_runs_its_own_version(together: Hour) -> None:
    assert {event["agent_version"] for event in together.old} == {together.version}
    assert len({event["agent_version"] for event in together.new}) == 1
    assert Counter(event["node"] for event in together.all) == {f"pretrain-{node}": hour.MINUTES for node in range(4)}


def test_the_ledger_of_this_tree_loses_no_minute_of_either(together: Hour, tmp_path: Path) -> None:
    ledger = booked(together.all, ENVIRONMENT, tmp_path)
    price = Decimal(str(together.old[0]["price"]["usd_per_hour"]))

    assert (ledger["unreadable"], ledger["problems"]) == (0, [])
    assert sum(line["units"] for line in ledger["lines"]) == NODE_MINUTES * UNITS
    assert dollars(ledger) == price * NODE_MINUTES / 60
    assert {line["category"] for line in ledger["lines"]} == {"startup", "compiling", "running", "checkpoint"}


def test_the_released_ledger_books_the_same_to_the_cent(together: Hour, tmp_path: Path) -> None:
    """A ledger may be deployed after the agents, and is again when the platform goes back."""
    old, new = old_ledger(together, tmp_path), booked(together.all, ENVIRONMENT, tmp_path / "new")

    assert (old["unreadable"], old["problems"]) == (0, [])
    assert old["lines"] == new["lines"]


def test_what_a_released_agent_could_not_send_is_sent_by_this_one(together: Hour, tmp_path: Path) -> None:
    releases.run(together.version, HERE / "hour.py", "spool", str(tmp_path))
    assert hour.unspool(tmp_path) == [event for event in together.old if event["node"] == "pretrain-0"]


def test_what_this_agent_could_not_send_is_sent_by_the_released_one(together: Hour, tmp_path: Path) -> None:
    hour.spool(tmp_path)
    assert json.loads(releases.run(together.version, HERE / "hour.py", "unspool", str(tmp_path))) == hour.events([0])


def test_events_of_a_released_agent_are_as_this_schema_says(together: Hour) -> None:
    assert unlike(SCHEMA, together.old) == []


def test_events_of_this_agent_are_as_the_released_schema_says(together: Hour) -> None:
    assert unlike(together.schema, together.new) == []


def unlike(schema: dict[str, Any], found: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the events, each thing once."""
    validator = Draft202012Validator(schema)
    return list(dict.fromkeys(each for event in found for each in wrong(validator, event)))


def test_the_schema_has_lost_no_property_and_demands_no_more(together: Hour) -> None:
    assert set(together.schema["properties"]) - set(SCHEMA["properties"]) == set()
    # A query over old and new events would find nothing in the old ones.
    assert set(SCHEMA["required"]) - set(together.schema["required"]) == set()
    changed = {
        name: told
        for name, before in together.schema["properties"].items()
        if (told := SCHEMA["properties"][name].get("type")) != before.get("type")
    }
    assert changed == {}


def test_every_released_metric_has_its_name_unit_and_dimensions_still(together: Hour) -> None:
    now = json.loads(json.dumps(hour.metrics()))
    assert {name: now.get(name) for name, was in together.metrics.items() if now.get(name) != was} == {}


def test_a_page_counts_the_nodes_and_dollars_of_both(together: Hour) -> None:
    at = datetime.fromtimestamp(hour.START, UTC) + timedelta(minutes=hour.MINUTES)
    pager = Pager(moment=at.timestamp()).seen(*together.all)
    change = alarm_change(
        AlarmName="replay/pretrain/LowUtilization", StateChangeTime=f"{at:%Y-%m-%dT%H:%M:%S}.000+0000"
    )
    pager.handle(change)
    (page,) = pager.inbox.pagerduty
    details = page["payload"]["custom_details"]

    said = json.dumps(details)
    assert [node for node in range(4) if f"pretrain-{node}" not in said] == []
    assert "llama-7b" in said
    wasted = sum(of[-1]["wasted_usd_per_hour"] for _, of in by_node(together))
    assert f"{wasted:.2f}" in said or f"{wasted:.0f}" in said


def by_node(together: Hour) -> list[tuple[str, list[dict[str, Any]]]]:
    ordered = sorted(together.all, key=lambda event: (event["node"], event["minute"]))
    return [(node, list(of)) for node, of in groupby(ordered, key=lambda event: event["node"])]

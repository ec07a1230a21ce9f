"""The node's log event against its own JSON Schema, and against AWS's schema of the embedded metric format.

The schema is the promise to everybody who queries the log group: what it names keeps its name, type and unit.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import agents.minute.log_event
from agents.collectors.collector import Contribution
from agents.minute.batch import NodeMinute
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from fleet.hardware_errors import Action
from fleet.node_state import NodeState
from fleet.patience import Announced
from tests.support import agents as made
from tests.support import batches, samples
from tests.support.batches import JOB
from tests.support.emf_schema import EMF_SCHEMA

Json = dict[str, Any]
SCHEMA: Json = json.loads((Path(agents.__file__).parent / "schemas/node-log-event.schema.json").read_text("utf-8"))
OURS = Draft202012Validator(SCHEMA)
AWS = Draft202012Validator(EMF_SCHEMA)


def paused(hardware_errors: int = 0) -> samples.Json:
    """A runtime that holds a core and completed nothing."""
    return samples.report([samples.RuntimeSpec(1, "a", {0: 1.0}, {}, {0: 1}, hardware_errors=hardware_errors)])


def states() -> Iterator[tuple[NodeState, NodeMinute]]:
    """Every state, each with a minute of a node that is in it."""
    full, work = samples.full_node(), Contribution(jobs=(JOB,))
    pipeline = Pipeline(made.config(), "i-1", made.MINUTE)
    minutes = [
        (samples.idle_first_record(), Contribution()),
        (paused(), work),
        (paused(), Contribution(jobs=(JOB,), compiling=True)),
        (full, work),
        (paused(), Contribution(jobs=(JOB,), checkpoint=True)),
        (paused(), Contribution(jobs=(JOB,), phases=(Announced("validation", 20),))),
        (full, Contribution(jobs=(JOB,), draining="spot interruption at 12:34Z")),
        (paused(hardware_errors=1), work),
        (samples.no_driver(), work),
    ]
    for index, (report, around) in enumerate(minutes):
        entry = made.feed(pipeline, made.MINUTE + 60 * index, report, report, around=Surroundings(around))
        yield entry.verdict.state, entry
    begins = Pipeline(made.config(), "i-1", made.MINUTE)
    for minute in (0, 10, 20, 31):
        entry = made.feed(begins, made.MINUTE + 60 * minute, paused(), paused(), around=Surroundings(work))
    yield entry.verdict.state, entry


EVENTS = {state: log_event(entry) for state, entry in states()}


def wrong(validator: Draft202012Validator, event: Json) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(event)]


def as_sent(event: Json) -> Json:
    """Through JSON and back, as CloudWatch Logs has it."""
    sent: Json = json.loads(json.dumps(event, allow_nan=False))
    return sent


def test_the_schema_is_a_schema_and_says_what_everything_is() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    assert all(entry.get("description") for entry in SCHEMA["properties"].values())
    assert SCHEMA["properties"]["schema"]["const"] == agents.minute.log_event.SCHEMA
    assert SCHEMA["properties"]["state"]["enum"] == [state.value for state in NodeState]
    error = SCHEMA["properties"]["hardware_errors"]["items"]["properties"]
    assert error["action"]["enum"] == [action.value for action in Action]


def test_there_is_an_event_of_every_state() -> None:
    assert set(EVENTS) == set(NodeState)


@pytest.mark.parametrize("state", NodeState)
def test_the_event_of_every_state_is_as_both_schemas_say(state: NodeState) -> None:
    event = as_sent(EVENTS[state])

    assert wrong(OURS, event) == []
    assert wrong(AWS, event) == []


@pytest.mark.parametrize("shape", batches.SHAPES)
@pytest.mark.parametrize("has_job", [True, False])
def test_the_event_of_every_shape_is_as_both_schemas_say(shape: str, has_job: bool) -> None:
    around = None if has_job else Contribution()
    event = as_sent(dict(batches.one(batches.SHAPES[shape], around=around).log_event))

    assert wrong(OURS, event) == []
    assert wrong(AWS, event) == []


@pytest.mark.parametrize("state", NodeState)
def test_no_property_is_unknown_to_the_schema(state: NodeState) -> None:
    assert set(EVENTS[state]) <= set(SCHEMA["properties"])


def test_a_property_that_the_schema_does_not_know_is_allowed_because_there_will_be_more() -> None:
    assert wrong(OURS, {**as_sent(EVENTS[NodeState.RUNNING]), "power_watts": 400}) == []


@pytest.mark.parametrize("name", SCHEMA["required"])
def test_a_renamed_property_is_an_error(name: str) -> None:
    event = as_sent(EVENTS[NodeState.RUNNING])
    event[f"{name}_2"] = event.pop(name)

    assert wrong(OURS, event) == [f"$: '{name}' is a required property"]


@pytest.mark.parametrize("name", sorted(set().union(*EVENTS.values())))
def test_a_property_of_another_type_is_an_error(name: str) -> None:
    event = as_sent(next(event for event in EVENTS.values() if name in event))
    event[name] = 1.5 if isinstance(event[name], str) else "1"

    assert wrong(OURS, event)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("cores", "utilization", 0), "50"),
        (("cores", "bytes", 0), -1),
        (("devices", "index", 0), None),
        (("devices", "ecc", "mem_ecc_corrected", 0), 0.5),
        (("runtimes", "tag_hash", 0), "the tag itself"),
        (("price", "usd_per_hour"), "20"),
        (("minute",), "2026-11-21 07:00"),
        (("_aws", "Timestamp"), "1795230000000"),
        (("_aws", "CloudWatchMetrics"), [{"Namespace": "NeuronFleet", "Dimensions": [[]], "Metrics": []}]),
    ],
)
def test_a_wrong_value_inside_is_an_error(path: tuple[str | int, ...], value: object) -> None:
    event = as_sent(deepcopy(EVENTS[NodeState.RUNNING]))
    place: Any = event
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    assert wrong(OURS, event)


def test_a_node_that_runs_names_its_job() -> None:
    event = as_sent(EVENTS[NodeState.RUNNING])
    del event["job"]

    assert wrong(OURS, event) == ["$: 'job' is a required property"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"Timestamp": 1.5, "CloudWatchMetrics": []},
        {"Timestamp": 1, "CloudWatchMetrics": None},
        {"CloudWatchMetrics": []},
        {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "", "Dimensions": [[]], "Metrics": []}]},
        {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "N", "Dimensions": [], "Metrics": []}]},
        {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "N", "Dimensions": [[]], "Metrics": [{"Unit": "Count"}]}]},
    ],
)
def test_aws_s_schema_refuses_what_is_not_its_format(metadata: Json) -> None:
    assert wrong(AWS, {"_aws": metadata})

"""Scenarios are read strictly, and the one that ships fits the environment that it plays in."""

from pathlib import Path

import pytest

from environments import loader
from local.scenario_file import ScenarioFileError
from local.simulation.placement import ScenarioMismatchError, node_id, place
from local.simulation.scenario import SCENARIOS, FleetScript, Scenario, load
from local.simulation.script import PhaseKind
from tests.unit.local.simulation.scripts import START

FLEETS = ("trn1-pretrain", "inf2-chat")


def minimal(**changes: object) -> dict[str, object]:
    fleet = {"phases": [{"at": 0, "kind": "running"}]}
    return {"name": "test", "title": "A test", "minutes": 10, "fleets": {"trn1-pretrain": fleet}} | changes


def test_the_demo_places_every_node_of_the_local_environment() -> None:
    environment = loader.load("local")
    specs = place(load(SCENARIOS / "demo.yaml"), environment, START, Path("machines"))

    assert [spec.fleet for spec in specs] == [fleet.name for fleet in environment.fleets for _ in range(fleet.nodes)]
    assert len({spec.script.node for spec in specs}) == 8
    assert {spec.script.lnc for spec in specs if spec.fleet == "trn2-frontier"} == {2}


def test_an_exception_replaces_the_phases_of_its_node_from_its_start_on() -> None:
    specs = place(load(SCENARIOS / "demo.yaml"), loader.load("local"), START, Path("machines"))
    first, second = (spec.script for spec in specs if spec.fleet == "trn2-frontier")

    assert PhaseKind.HARDWARE_ERROR not in {phase.kind for phase in first.phases}
    assert second.phases[:-1] == first.phases
    assert second.phases[-1].kind is PhaseKind.HARDWARE_ERROR
    assert second.phases[-1].start == START + 125 * 60


def test_an_exception_ends_the_phases_that_would_come_after_its_start() -> None:
    phases = [{"at": at, "kind": kind} for at, kind in ((0, "startup"), (2, "running"), (5, "idle"))]
    script = FleetScript.model_validate({"phases": phases, "exceptions": {1: [{"at": 3, "kind": "hang"}]}})

    assert [phase.at for phase in script.phases_of(0)] == [0, 2, 5]
    assert [(phase.at, phase.kind.value) for phase in script.phases_of(1)] == [
        (0, "startup"),
        (2, "running"),
        (3, "hang"),
    ]


def test_nodes_that_train_share_a_job_and_each_node_of_an_endpoint_has_a_task() -> None:
    specs = place(load(SCENARIOS / "demo.yaml"), loader.load("local"), START, Path("machines"))
    jobs = {fleet: [spec.job.job_id for spec in specs if spec.job and spec.fleet == fleet] for fleet in FLEETS}

    assert jobs == {"trn1-pretrain": ["pretrain-7b-0412"] * 4, "inf2-chat": ["chat-8b-0", "chat-8b-1"]}


def test_node_ids_have_the_form_of_instance_ids_and_stay_the_same() -> None:
    assert node_id("local", "a", 0) == node_id("local", "a", 0) != node_id("local", "a", 1)
    assert len(node_id("local", "a", 0)) == len("i-0123456789abcdef0")


def test_a_fleet_that_the_environment_does_not_have_is_named() -> None:
    scenario = Scenario.model_validate(minimal(fleets={"other": {"phases": [{"at": 0, "kind": "idle"}]}}))

    with pytest.raises(ScenarioMismatchError, match="environment local has no fleet other"):
        place(scenario, loader.load("local"), START, Path("machines"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: [", "not YAML"),
        ("name: test", "title: Field required"),
        ("name: a\ntitle: b\nminutes: 3\nfleets: {a: {phases: [{at: 1, kind: idle}]}}", "starts at minute 0"),
        ("name: a\ntitle: b\nminutes: 3\nfleets: {a: {phases: [{at: 0, kind: nap}]}}", "fleets.a.phases.0.kind"),
        (
            "name: a\ntitle: b\nminutes: 3\nfleets: {a: {phases: [{at: 0, kind: idle}, {at: 0, kind: hang}]}}",
            "each starts after the one before, not at minutes [0, 0]",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_file_and_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ScenarioFileError) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ScenarioFileError, match=r"nowhere\.yaml: No such file"):
        load(Path("nowhere.yaml"))

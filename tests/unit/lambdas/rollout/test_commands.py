"""What people may ask for, what is refused, and what becomes of a command that is given twice or comes too late."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.rollout.record import Phase
from fleet.shadow.gate import ShadowGate
from lambdas.rollout import commands, handler, service
from lambdas.rollout.commands import Action, Command
from lambdas.rollout.ports import NotAppliedError
from lambdas.rollout.store import ConflictError
from tests.support.rollout_endpoint import NEW, OLD, PLACE, Endpoint, refused


def ask(endpoint: Endpoint, action: Action, rollout_id: str = "", **more: str) -> dict[str, Any]:
    command = Command(action=action, fleet="chat", rollout_id=rollout_id, who="ann", **more)
    return commands.run(command, endpoint.dependencies(), PLACE, endpoint.now)


def look(endpoint: Endpoint, fence: int = 1) -> dict[str, Any]:
    return service.step(endpoint.dependencies(), PLACE, "one", fence, endpoint.now)


def to_baking(endpoint: Endpoint) -> None:
    ask(endpoint, Action.START, "one")
    for _ in range(40):
        if look(endpoint)["phase"] == Phase.BAKING:
            return
        endpoint.advance(30)
    raise AssertionError


def test_a_start_pins_what_serves_and_starts_one_execution() -> None:
    endpoint = Endpoint()
    answer = ask(endpoint, Action.START, "one")

    assert (answer["old_version"], answer["new_version"], answer["weights"]["stable"]) == (OLD, NEW, 100)
    assert endpoint.parameters[PLACE.version_parameter] == OLD
    assert list(endpoint.executions) == ["chat-one-1"]
    # The same command once more, as its answer was lost.
    assert ask(endpoint, Action.START, "one")["rollout_id"] == "one"
    assert list(endpoint.executions) == ["chat-one-1"]
    assert "one at a time" in ask(endpoint, Action.START, "two")["refused"]


def test_a_start_that_could_not_start_its_execution_is_made_good_by_the_same_command() -> None:
    endpoint = Endpoint()

    def deny(call: str) -> None:
        if call == "start_execution":
            raise refused("AccessDeniedException", call)

    endpoint.disturb = deny
    with pytest.raises(ClientError):
        ask(endpoint, Action.START, "one")
    endpoint.disturb = lambda _call: None
    ask(endpoint, Action.START, "one")
    assert list(endpoint.executions) == ["chat-one-1"]


def test_a_start_needs_a_whole_stable_side_with_all_requests() -> None:
    shared, sick, changing, same = Endpoint(), Endpoint(), Endpoint(), Endpoint()
    shared.weights = {"arn:stable": 90, "arn:candidate": 10}
    sick.halves["stable"].healthy = 0
    changing.halves["stable"].target = NEW
    same.halves["stable"].running = same.halves["stable"].target = NEW

    assert "90 to 10" in ask(shared, Action.START, "one")["refused"]
    assert "no healthy target" in ask(sick, Action.START, "one")["refused"]
    assert "one version everywhere" in ask(changing, Action.START, "one")["refused"]
    assert "serves already" in ask(same, Action.START, "one")["refused"]
    assert all(not each.executions for each in (shared, sick, changing, same))


def test_an_image_is_given_by_its_digest() -> None:
    endpoint = Endpoint()

    assert "by its digest" in ask(endpoint, Action.START, "one", image="chat:8")["refused"]
    assert "refused" not in ask(endpoint, Action.START, "one", image=f"chat@sha256:{'0' * 64}")


def test_a_command_before_any_rollout_and_for_another_one() -> None:
    endpoint = Endpoint()
    assert "no rollout" in ask(endpoint, Action.STATUS)["refused"]
    ask(endpoint, Action.START, "one")
    assert "the newest rollout is one" in ask(endpoint, Action.ABORT, "other")["refused"]


def test_an_abort_that_comes_during_a_look_is_not_overwritten() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)

    def abort_meanwhile(call: str) -> None:
        if call == "get_metric_data":
            endpoint.disturb = lambda _call: None
            assert "refused" not in ask(endpoint, Action.ABORT)

    endpoint.disturb = abort_meanwhile
    with pytest.raises(ConflictError):
        look(endpoint)
    assert look(endpoint)["weights"] == {"stable": 100, "candidate": 0}


def test_a_weight_that_aws_does_not_show_is_asked_for_again() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    ask(endpoint, Action.ABORT)
    real, endpoint.modify_rule = endpoint.modify_rule, lambda **_: {}  # type: ignore[method-assign]  # one lost change
    with pytest.raises(NotAppliedError, match=r"\(100, 0\) and show as \(95, 5\)"):
        look(endpoint)
    endpoint.modify_rule = real  # type: ignore[method-assign]  # and back
    assert look(endpoint)["weights"] == {"stable": 100, "candidate": 0}


def test_going_back_does_not_wait_for_anything_else_that_aws_refuses() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    ask(endpoint, Action.ABORT)

    def deny(call: str) -> None:
        if call in {"describe_services", "update_service", "describe_auto_scaling_groups"}:
            raise refused("ThrottlingException", call)

    endpoint.disturb = deny
    with pytest.raises(ClientError):
        look(endpoint)
    assert endpoint.shares == (100, 0)


def test_what_is_declared_is_waited_for_unless_another_artifact_is_named() -> None:
    declares = replace(PLACE, artifact="neuron-artifacts/chat/1f")
    for named, meant in (("", "neuron-artifacts/chat/1f"), ("neuron-artifacts/chat/2e", "neuron-artifacts/chat/2e")):
        endpoint = Endpoint()
        command = Command(action=Action.START, fleet="chat", rollout_id="one", artifact=named)
        commands.run(command, endpoint.dependencies(), declares, endpoint.now)
        assert look(endpoint)["waits_for"] == f"compiled graphs {meant} are not in the store"
        endpoint.artifacts = {meant}
        assert look(endpoint)["phase"] == Phase.PREPARING


def test_an_event_that_is_no_command_is_refused_with_the_field() -> None:
    answer = handler._command({"action": "start", "fleet": "Chat!", "rollout": "x"})

    assert "fleet: " in answer["refused"]
    assert "rollout: Extra inputs" in answer["refused"]


def test_an_abort_that_meets_a_look_being_stored_is_tried_again() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    looks = iter([True, True])

    def look_meanwhile(call: str) -> None:
        # Between the command's reading and its writing, twice.
        if call == "put_item" and next(looks, False):
            item = endpoint.items["chat"]
            item["version"] = {"N": str(int(item["version"]["N"]) + 1)}

    endpoint.disturb = look_meanwhile
    assert "refused" not in ask(endpoint, Action.ABORT)
    endpoint.disturb = lambda _call: None
    assert look(endpoint)["weights"] == {"stable": 100, "candidate": 0}


def test_a_start_may_leave_recorded_requests_alone_and_no_other_does() -> None:
    shadowed = replace(PLACE, plan=replace(PLACE.plan, shadow=ShadowGate()))
    plans = []
    for without in (True, False):
        endpoint = Endpoint()
        command = Command(action=Action.START, fleet="chat", rollout_id="one", without_shadow=without)
        commands.run(command, endpoint.dependencies(), shadowed, endpoint.now)
        record = endpoint.dependencies().store.read("chat")
        assert record is not None
        plans.append(record.rollout.plan)

    assert plans == [PLACE.plan, shadowed.plan]

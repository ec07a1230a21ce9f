"""Executions that failed, were stopped or never began: the next command starts another, and at once."""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from lambdas.rollout.commands import Action
from tests.support.rollout_endpoint import Endpoint, refused
from tests.unit.lambdas.rollout.test_commands import ask, look, to_baking


def test_a_rollout_that_nobody_drives_gets_a_new_execution_and_the_old_one_is_out_of_office() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    assert ask(endpoint, Action.STATUS)["is_driven"]
    ask(endpoint, Action.PAUSE)
    assert list(endpoint.executions) == ["chat-one-1"]

    endpoint.now += timedelta(minutes=6)
    assert not ask(endpoint, Action.STATUS)["is_driven"]
    ask(endpoint, Action.RESUME)
    assert list(endpoint.executions) == ["chat-one-1", "chat-one-2"]
    before = endpoint.calls["modify_rule"]
    assert look(endpoint)["outcome"] == "superseded"
    assert endpoint.calls["modify_rule"] == before
    assert look(endpoint, fence=2)["rollout_id"] == "one"


@pytest.mark.parametrize("action", [Action.RESUME, Action.ABORT])
def test_a_command_after_a_broken_execution_starts_another_at_once(action: Action) -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    endpoint.executions["chat-one-1"]["stopped"] = True

    assert not ask(endpoint, Action.STATUS)["is_driven"]
    assert ask(endpoint, action)["is_driven"]
    assert list(endpoint.executions) == ["chat-one-1", "chat-one-2"]
    assert look(endpoint)["outcome"] == "superseded"
    assert look(endpoint, fence=2)["weights"]["candidate"] == (0 if action is Action.ABORT else 5)


def test_commands_make_no_look_of_themselves() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    for _ in range(6):
        endpoint.now += timedelta(minutes=1)
        ask(endpoint, Action.PAUSE)

    # It runs, as far as Step Functions knows, and has not looked for six minutes.
    assert list(endpoint.executions) == ["chat-one-1", "chat-one-2"]


def test_a_command_whose_execution_could_not_start_is_made_good_by_the_next_one() -> None:
    endpoint = Endpoint()
    to_baking(endpoint)
    endpoint.executions["chat-one-1"]["stopped"] = True

    def deny(call: str) -> None:
        if call == "start_execution":
            raise refused("ThrottlingException", call)

    endpoint.disturb = deny
    with pytest.raises(ClientError):
        ask(endpoint, Action.ABORT)
    endpoint.disturb = lambda _call: None
    assert not ask(endpoint, Action.STATUS)["is_driven"]
    ask(endpoint, Action.ABORT)
    assert list(endpoint.executions) == ["chat-one-1", "chat-one-3"]
    assert look(endpoint, fence=3)["weights"] == {"stable": 100, "candidate": 0}

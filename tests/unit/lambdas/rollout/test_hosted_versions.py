"""Versions of an endpoint that SageMaker hosts, good and bad, as the function looks at them: how each ends, and why.

SageMaker is the embedded one in virtual time, behind the real adapters. The function's answer to its last look is the
execution's output.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.hosting.variants import STABLE
from fleet.rollout.record import Outcome
from lambdas.rollout import commands, service
from lambdas.rollout.commands import Action, Command
from lambdas.rollout.ports import NoRoomError
from tests.support.hosted_endpoint import ENDPOINT, PLACE, REGION, HostedEndpoint
from tests.support.rollout_endpoint import NEW, OLD, Candidate, LambdaTimeoutError

GOOD = [(95, 5), (75, 25), (50, 50), (0, 100), (100, 0)]
LOOKS = 800


def ask(endpoint: HostedEndpoint, action: Action, place: Any = PLACE) -> dict[str, Any]:
    command = Command(action=action, fleet="chat", rollout_id="first" if action is Action.START else "", who="test")
    answer = commands.run(command, endpoint.dependencies_of_one_look(), place, endpoint.now)
    assert "refused" not in answer, answer
    return answer


def look(endpoint: HostedEndpoint, place: Any = PLACE, fence: int = 1) -> dict[str, Any]:
    endpoint.advance(30)
    return service.look(endpoint.dependencies_of_one_look(), place, "first", fence, endpoint.now)


def until(endpoint: HostedEndpoint, phase: str, place: Any = PLACE, fence: int = 1) -> dict[str, Any]:
    for _ in range(LOOKS):
        report = look(endpoint, place, fence)
        if report["phase"] == phase and (phase != "ended" or report["is_over"]):
            return report
    raise AssertionError(report)


def taken_away(endpoint: HostedEndpoint) -> None:
    """Somebody gives the endpoint the configuration back that it had at first."""
    while True:
        try:
            endpoint.sagemaker("UpdateEndpoint", EndpointName=ENDPOINT, EndpointConfigName="first")
        except ClientError:
            endpoint.advance(30)
        else:
            return


@pytest.mark.parametrize(
    ("does", "requests", "weights", "reason"),
    [
        (Candidate(error_percent=2), 6000, [(95, 5)], "of the candidate's answers were 5xx ("),
        (Candidate(p99=0.6), 600, [(95, 5)], "p99 is 0.600 s, the stable side's 0.200 s: 3.0 times as much, over 1.5"),
        (Candidate(), 0, [(95, 5)], "answered 0 of 20 requests, 10 minutes after the bake"),
        (Candidate(is_healthy=False), 600, [], "did not pass the ping health check., after 30 minutes"),
    ],
    ids=["errors", "slow", "idle", "sick"],
)
def test_a_bad_version_goes_back_and_its_output_says_why(
    does: Candidate, requests: int, weights: list[tuple[int, int]], reason: str
) -> None:
    endpoint = HostedEndpoint(does, requests)
    ask(endpoint, Action.START)
    output = until(endpoint, "ended")

    assert (output["outcome"], output["is_true"], output["serves"]) == ("rolled back", True, [OLD])
    assert output["weights"] == {"stable": 100, "candidate": 0}
    assert reason in output["reason"]
    # Up by one step at the most, and back by one change.
    assert endpoint.weight_history == weights + [(100, 0)] * bool(weights)
    assert set(endpoint.hosting.variants(REGION, ENDPOINT)) == {STABLE}
    assert not any(endpoint.scaling.values())


def test_a_good_version_is_read_once_a_look_and_after_each_change() -> None:
    endpoint = HostedEndpoint()
    ask(endpoint, Action.START)
    most = 0
    while True:
        before = endpoint.calls["describe_endpoint"]
        report = look(endpoint)
        most = max(most, endpoint.calls["describe_endpoint"] - before)
        if report["is_over"]:
            break

    assert (report["outcome"], report["serves"], endpoint.weight_history) == ("done", [NEW], GOOD)
    # At the start of the look, after a change, and for what it waits for: not a dozen times.
    assert most <= 3


def test_what_was_read_is_read_again_after_a_change_though_its_answer_was_lost() -> None:
    endpoint = HostedEndpoint()
    dependencies = endpoint.dependencies_of_one_look()
    assert dependencies.services.target(PLACE.candidate) == ""
    calls: list[str] = []

    def lose(call: str) -> None:
        calls.append(call)
        # Before it, and after it.
        if calls[-2:] == ["update_endpoint"] * 2:
            raise LambdaTimeoutError(call)

    endpoint.disturb = lose
    with pytest.raises(LambdaTimeoutError):
        dependencies.services.run(PLACE.candidate, NEW)
    assert dependencies.services.target(PLACE.candidate) == NEW


def test_an_endpoint_that_lost_instances_before_it_stood_still_is_rolled_out_as_it_is() -> None:
    endpoint = HostedEndpoint()
    place = replace(PLACE, artifact="neuron-artifacts/chat/1")
    ask(endpoint, Action.START, place)
    # The load goes while the graphs are compiled, and before the first look.
    endpoint.nodes_wanted = 2
    endpoint.advance(120)
    for _ in range(20):
        look(endpoint, place)
    assert endpoint.halves[STABLE].nodes == 2
    endpoint.artifacts = {"neuron-artifacts/chat/1"}

    assert until(endpoint, "ended", place)["outcome"] == "done"
    assert endpoint.halves[STABLE].nodes == 2


def test_instances_do_not_follow_the_load_while_compiled_graphs_are_waited_for() -> None:
    endpoint = HostedEndpoint()
    place = replace(PLACE, artifact="neuron-artifacts/chat/1")
    ask(endpoint, Action.START, place)
    look(endpoint, place)
    endpoint.nodes_wanted = 1
    for _ in range(20):
        look(endpoint, place)

    assert endpoint.halves[STABLE].nodes == 4


@pytest.mark.parametrize(("action", "outcome", "serves"), [(None, "done", NEW), (Action.ABORT, "rolled back", OLD)])
def test_a_candidate_that_somebody_takes_away_during_the_promotion_comes_again(
    action: Action | None, outcome: str, serves: str
) -> None:
    endpoint = HostedEndpoint()
    ask(endpoint, Action.START)
    until(endpoint, "promoting")
    taken_away(endpoint)
    if action:
        ask(endpoint, action)
    report = until(endpoint, "ended")

    assert (report["outcome"], report["serves"], report["is_true"]) == (outcome, [serves], True)


def test_a_quota_without_room_ends_it_and_says_which() -> None:
    endpoint = HostedEndpoint()
    endpoint.has_room = False
    ask(endpoint, Action.START)
    report = until(endpoint, "ended")

    assert (report["outcome"], report["serves"], endpoint.weight_history) == ("rolled back", [OLD], [])
    assert "for endpoint usage' is 4 Instances, after 30 minutes" in report["reason"]


def test_a_quota_without_room_for_the_promotion_holds_it_until_there_is_some() -> None:
    endpoint = HostedEndpoint()
    ask(endpoint, Action.START)
    until(endpoint, "baking")
    endpoint.has_room = False
    report = until(endpoint, "ended")

    assert (report["outcome"], report["serves"], report["weights"]["candidate"]) == (Outcome.HELD, [NEW], 100)
    assert "SageMaker has no room for it" in report["reason"]
    assert all(endpoint.scaling.values())
    # In the execution's output, and to whoever asks.
    assert report["stands_still"]
    assert ask(endpoint, Action.STATUS)["stands_still"]
    endpoint.has_room = True
    resumed = ask(endpoint, Action.RESUME)
    assert until(endpoint, "ended", fence=resumed["fence"])["outcome"] == "done"


def test_instances_that_a_quota_keeps_from_leaving_are_somebodys_business() -> None:
    endpoint = HostedEndpoint(Candidate(error_percent=20))
    ask(endpoint, Action.START)
    until(endpoint, "baking")
    endpoint.has_room = False
    # Waiting would be for ever, and each hour costs: the execution fails, and that pages.
    with pytest.raises(NoRoomError, match="endpoint usage"):
        until(endpoint, "ended")
    assert endpoint.shares == (100, 0)


def test_weights_that_sagemaker_does_not_change_end_it() -> None:
    endpoint = HostedEndpoint()
    ask(endpoint, Action.START)
    until(endpoint, "preparing")
    endpoint.hosting.weights_seconds = timedelta(days=1).total_seconds()
    reports: list[dict[str, Any]] = []
    while not reports or reports[-1]["phase"] != "rolling back":
        reports.append(look(endpoint))
        assert len(reports) < LOOKS

    assert "after 30 minutes" in reports[-1]["reason"]
    endpoint.hosting.weights_seconds = 60
    endpoint.advance(timedelta(days=1).total_seconds())
    assert until(endpoint, "ended")["serves"] == [OLD]


def test_sagemakers_reason_outlives_the_next_attempt() -> None:
    endpoint = HostedEndpoint(Candidate(is_healthy=False))
    # The third attempt is under way when the 30 minutes are over.
    endpoint.delay = timedelta(minutes=10)
    ask(endpoint, Action.START)
    waits = []
    while not (report := look(endpoint))["is_over"]:
        waits += [report["waits_for"]] if report["phase"] == "preparing" else []

    assert "did not pass the ping health check" not in waits[1]
    assert all("did not pass the ping health check" in each for each in waits[-10:])
    assert "did not pass the ping health check" in report["reason"]

"""While SageMaker is at a change, a rollout is looked after, is not over, and nothing else is asked of it."""

from datetime import timedelta
from typing import Any

import pytest

from lambdas.rollout import commands, service
from lambdas.rollout.commands import Action, Command
from tests.support.hosted_endpoint import ENDPOINT, PLACE, REGION, HostedEndpoint
from tests.support.rollout_endpoint import NEW, OLD, Candidate


def started(candidate: Candidate | None = None) -> tuple[HostedEndpoint, Any]:
    endpoint = HostedEndpoint(candidate)
    dependencies = endpoint.dependencies()
    answer = ask(endpoint, dependencies, Action.START)
    assert "refused" not in answer, answer
    return endpoint, dependencies


def ask(endpoint: HostedEndpoint, dependencies: Any, action: Action) -> dict[str, Any]:
    command = Command(action=action, fleet="chat", rollout_id="first" if action is Action.START else "", who="test")
    return commands.run(command, dependencies, PLACE, endpoint.now)


def look(endpoint: HostedEndpoint, dependencies: Any, seconds: float = 30, fence: int = 1) -> dict[str, Any]:
    endpoint.advance(seconds)
    return service.look(dependencies, PLACE, "first", fence, endpoint.now)


def until(endpoint: HostedEndpoint, dependencies: Any, phase: str) -> dict[str, Any]:
    for _ in range(400):
        report = look(endpoint, dependencies)
        if report["phase"] == phase:
            return report
    raise AssertionError(report)


def variants(endpoint: HostedEndpoint) -> set[str]:
    return set(endpoint.hosting.variants(REGION, ENDPOINT))


def test_a_rollout_is_not_over_before_the_candidates_instances_are_gone() -> None:
    endpoint, dependencies = started(Candidate(error_percent=20))
    report = until(endpoint, dependencies, "ended")

    # It went back at once; SageMaker takes minutes to end what is paid for.
    assert (report["outcome"], report["weights"]) == ("rolled back", {"stable": 100, "candidate": 0})
    assert (report["is_over"], report["waits_for"]) == (False, "SageMaker takes the candidate's instances away")
    assert variants(endpoint) == {"stable", "candidate"}
    while not report["is_over"]:
        report = look(endpoint, dependencies)
    assert variants(endpoint) == {"stable"}
    assert (report["serves"], report["is_true"]) == ([OLD], True)


def test_all_instances_come_before_the_first_request() -> None:
    endpoint, dependencies = started()
    until(endpoint, dependencies, "baking")

    assert endpoint.halves["candidate"].nodes == endpoint.halves["stable"].nodes == 4
    # From here on there is nothing but weights, until all requests are on one side.
    asked = endpoint.calls["update_endpoint"]
    until(endpoint, dependencies, "promoting")
    assert endpoint.calls["update_endpoint"] == asked + 1


def test_an_abort_while_instances_start_is_taken_and_waits_for_them() -> None:
    endpoint, dependencies = started()
    # Longer than a look may be late before somebody else takes a rollout over.
    endpoint.delay = timedelta(minutes=12)
    until(endpoint, dependencies, "preparing")
    assert "refused" not in ask(endpoint, dependencies, Action.ABORT)
    report = look(endpoint, dependencies)
    waits = 0
    while not report["is_over"]:
        # Somebody looks after it meanwhile: no command takes it for one that nobody does.
        assert ask(endpoint, dependencies, Action.STATUS)["is_driven"]
        waits += report["waits_for"].startswith("the endpoint is Updating")
        report = look(endpoint, dependencies)

    assert waits >= 1
    assert (report["outcome"], variants(endpoint)) == ("rolled back", {"stable"})


def test_an_abort_of_a_promotion_waits_for_it_and_is_looked_after_meanwhile() -> None:
    endpoint, dependencies = started()
    until(endpoint, dependencies, "baking")
    # Longer than a look may be late before somebody else takes a rollout over.
    endpoint.delay = timedelta(minutes=12)
    until(endpoint, dependencies, "promoting")
    look(endpoint, dependencies)
    assert "refused" not in ask(endpoint, dependencies, Action.ABORT)
    report = look(endpoint, dependencies)
    waits = 0
    while not report["is_over"]:
        if report["phase"] == "restoring" and report["waits_for"].startswith("the endpoint is Updating"):
            waits += 1
            assert ask(endpoint, dependencies, Action.STATUS)["is_driven"]
            # The stable variant has no request while its model changes back and forth.
            assert endpoint.shares == (0, 100)
        report = look(endpoint, dependencies)

    assert waits >= 12
    assert (report["outcome"], report["serves"], variants(endpoint)) == ("rolled back", [OLD], {"stable"})


def test_a_version_that_never_answers_a_ping_goes_back_with_sagemakers_reason() -> None:
    endpoint, dependencies = started(Candidate(is_healthy=False))
    report = until(endpoint, dependencies, "ended")

    assert report["outcome"] == "rolled back"
    assert "did not pass the ping health check" in report["reason"]
    assert endpoint.weight_history == []


def test_a_good_version_ends_as_the_only_variant() -> None:
    endpoint, dependencies = started()
    report = until(endpoint, dependencies, "ended")
    while not report["is_over"]:
        report = look(endpoint, dependencies)

    assert (report["outcome"], report["serves"], variants(endpoint)) == ("done", [NEW], {"stable"})
    assert endpoint.weight_history == [(95, 5), (75, 25), (50, 50), (0, 100), (100, 0)]


@pytest.mark.parametrize("fence", [0, 2])
def test_an_execution_out_of_office_is_told_so_though_sagemaker_is_busy(fence: int) -> None:
    endpoint, dependencies = started()
    until(endpoint, dependencies, "preparing")

    assert look(endpoint, dependencies, fence=fence)["outcome"] == "superseded"


def test_what_waits_is_known_to_whoever_asks() -> None:
    endpoint, dependencies = started()
    until(endpoint, dependencies, "baking")
    endpoint.somebody_shares(100, 0)
    look(endpoint, dependencies, seconds=1)

    told = ask(endpoint, dependencies, Action.STATUS)
    assert told["waits_for"]
    endpoint.advance(timedelta(hours=1).total_seconds())
    assert not ask(endpoint, dependencies, Action.STATUS)["is_driven"]

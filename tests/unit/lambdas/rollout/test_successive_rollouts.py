"""Rollouts that follow each other: what one side answered to the first is not held against the second."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from lambdas.rollout import commands, service
from lambdas.rollout.commands import Action, Command
from tests.support.rollout_endpoint import PLACE, Candidate, Endpoint

# One that ends within the minute in which its candidate still answered.
QUICK = replace(PLACE, plan=replace(PLACE.plan, drain_seconds=2))


def test_answers_of_the_rollout_before_count_for_no_other() -> None:
    endpoint = Endpoint(Candidate(error_percent=20))
    endpoint.delay = timedelta(0)
    endpoint.advance(5)
    first = to_the_end(endpoint, "one", 1)
    ended = endpoint.now
    endpoint.candidate_does = Candidate()
    second = to_the_end(endpoint, "two", 2)

    assert first["outcome"] == "rolled back"
    assert "answers were 5xx" in first["reason"]
    assert (second["outcome"], second["reason"]) == ("done", "")
    began = next(each["at"] for each in second["history"] if "5 % of the requests go" in each["text"])
    # In the next minute, and no later than that.
    assert (
        ended.replace(second=0) + timedelta(minutes=1) <= datetime.fromisoformat(began) <= ended + timedelta(minutes=1)
    )


def to_the_end(endpoint: Endpoint, rollout_id: str, fence: int) -> dict[str, Any]:
    """Look every five seconds; the answer to a question for its status."""
    dependencies, start = endpoint.dependencies(), Command(action=Action.START, fleet="chat", rollout_id=rollout_id)
    assert "refused" not in commands.run(start, dependencies, QUICK, endpoint.now)
    for _ in range(1000):
        if service.step(dependencies, QUICK, rollout_id, fence, endpoint.now)["is_over"]:
            return commands.run(Command(action=Action.STATUS, fleet="chat"), dependencies, QUICK, endpoint.now)
        endpoint.advance(5)
    raise AssertionError

"""Rollouts in virtual time, each with its own alarms, throttles, time-outs, commands and lost executions.

Forty of each engine in every run of the tests, two hundred in the long ones. Whatever comes: weights add up to 100,
there is never a second rollout, it ends all-stable or all-candidate, and what is reported is what serves.
"""

import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.rollout.record import Outcome
from fleet.shadow.comparison import Comparison, Latency, encode
from fleet.shadow.gate import ShadowGate
from lambdas.rollout import commands, service
from lambdas.rollout.commands import Action, Command
from lambdas.rollout.ports import NotAppliedError
from lambdas.rollout.store import ConflictError
from tests.support.hosted_endpoint import HostedEndpoint
from tests.support.rollout_endpoint import NEW, OLD, PLACE, Candidate, Disturbances, Endpoint, LambdaTimeoutError

SCHEDULES = 200
FEW = 40
# Why a candidate whose answers are not known to be good is rolled back; all of them among all schedules.
REASONS = ("4 of 40 answers", "5 of 20 recorded requests", "40 of 40 recorded requests failed", "0 of 1 tasks")
# As in the state machine: so many tries of one look, then the execution fails and somebody is called.
TRIES = 8
SHADOWED = replace(PLACE, plan=replace(PLACE.plan, shadow=ShadowGate(min_requests=20, minutes=20)))
GOOD = encode(Comparison("chat:8", "0", "chat:7", equal=40, latency=Latency(0.2, 0.3, 0.2, 0.3)))
# What a candidate's tasks may report of recorded requests: that they differ, are too few, nothing that can be read.
BAD = [
    encode(Comparison("chat:8", "0", "chat:7", equal=36, different=4, latency=Latency(0.2, 0.3, 0.2, 0.3))),
    encode(Comparison("chat:8", "0", "chat:7", equal=5, latency=Latency(0.2, 0.3, 0.2, 0.3))),
    encode(Comparison("chat:8", "0", "chat:7", failed=40)),
    b"{",
    None,
]
RETRIED = (ClientError, LambdaTimeoutError, ConflictError, NotAppliedError)
ENDS = {
    Outcome.DONE: ((100, 0), {NEW}),
    Outcome.ROLLED_BACK: ((100, 0), {OLD}),
    Outcome.HELD: ((0, 100), {NEW}),
}


@dataclass
class Played:
    endpoint: Endpoint
    report: dict[str, Any]
    disturbed: int
    refused_starts: int
    looks: int
    has_shadow: bool
    scales: bool


class Schedule:
    """One rollout, from its start to its end."""

    def __init__(self, seed: int, endpoint_type: type[Endpoint]) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - a schedule, and no secret
        chance = self.chance
        self.endpoint = endpoint_type(
            Candidate(
                error_percent=chance.choice([0, 0, 0, 0, 0, 0.5, 2, 20]),
                p99=chance.choice([0.2, 0.2, 0.2, 0.2, 0.25, 0.6]),
                is_healthy=chance.random() > 0.1,
            ),
            requests_per_minute=chance.choice([0, 40, 600, 600, 6000, 6000]),
        )
        self.endpoint.delay = timedelta(minutes=chance.choice([1, 4, 12]))
        self.dependencies = self.endpoint.dependencies()
        self.disturbances = Disturbances(chance, chance.choice([0, 0.01, 0.05]), chance.choice([0, 0.01, 0.05]))
        self.refused_starts = self.looks = 0
        self.commands = {chance.randrange(5, 120): chance.choice(list(Action)) for _ in range(chance.randrange(5))}
        self.endpoint.is_stable_stuck = chance.random() < 0.15
        # Of its own, so that the others stay what they are.
        shadow = random.Random(seed + SCHEDULES)  # noqa: S311 - see above
        self.has_shadow = shadow.random() < 0.5
        self.endpoint.candidate_does.reports = GOOD if shadow.random() < 0.85 else shadow.choice(BAD)
        # Of every other one, the stable side's nodes follow a load that changes.
        self.has_shadow &= endpoint_type is Endpoint
        self.place = replace(SHADOWED if self.has_shadow else self.endpoint.place, scales=seed % 2 == 1)
        if endpoint_type is HostedEndpoint:
            # SageMaker's are always told to stand still, whether they follow a load or not.
            self.place = self.endpoint.place
        if chance.random() < 0.2:
            at = self.endpoint.now + timedelta(minutes=chance.randrange(90))
            self.endpoint.alarms = [(chance.choice(["EndpointErrors", "HardwareFault", "HbmPressure"]), at)]

    def play(self) -> Played:
        self._ask(Action.START, "first")
        if self.place.scales:
            # Before the first look, too.
            self.endpoint.nodes_wanted = self.chance.randint(1, 4)
            self.endpoint.advance(self.chance.choice([0, 60, 300]))
        self.endpoint.disturb = self.disturbances
        report: dict[str, Any] = {"is_over": False}
        # The last executions' time-outs are hours away: more looks than these would be a rollout without an end.
        for turn in range(4000):
            self._what_people_do(turn)
            if self.place.scales and self.chance.random() < 0.02:
                self.endpoint.nodes_wanted = self.chance.randint(1, 6)
            found = self._drive()
            self._must_hold()
            if found is not None and found["outcome"] != "superseded":
                report = found
                if report["is_over"]:
                    break
            self.endpoint.advance(30)
        return Played(
            self.endpoint,
            report,
            self.disturbances.count,
            self.refused_starts,
            self.looks,
            self.has_shadow,
            self.place.scales,
        )

    def _what_people_do(self, turn: int) -> None:
        action = self.commands.get(turn)
        if action is Action.START and self._has_ended():
            return
        if action is Action.START:
            answer = self._ask(action, "second")
            assert "refused" in answer
            self.refused_starts += 1
        elif action is not None:
            self._command(action)
        if self.chance.random() < 0.01:
            # An execution that nobody has told that it is over: it was stopped, and looks once more.
            stale = self._tried(lambda: service.look(self.dependencies, self.place, "first", 0, self.endpoint.now), 1)
            assert stale is None or stale["outcome"] == "superseded"
        if self.chance.random() < 0.003:
            # Somebody, or a deployment, puts the weights where they were before.
            self.endpoint.somebody_shares(100, 0)
        if self.chance.random() < 0.002 and self.endpoint.executions:
            # Somebody stops the newest execution.
            newest = list(self.endpoint.executions)[-1]
            self.endpoint.executions[newest]["stopped"] = True

    def _has_ended(self) -> bool:
        """Whether it has, though the last look's answer may be lost: another one may begin."""
        item = self.endpoint.items["chat"]
        return '"phase":"ended"' in item["rollout"]["S"] and bool(item["is_applied"]["BOOL"])

    def _drive(self) -> dict[str, Any] | None:
        """What the newest execution that lives does in its turn."""
        living = self._living()
        if not living:
            # Somebody is called, and comes sooner or later.
            self.endpoint.advance(self.chance.choice([0, 30, 600]))
            if not self._has_ended():
                self._command(Action.ABORT if self.chance.random() < 0.02 else Action.RESUME)
                return None
            # The last look did it all, and its answer was lost.
            told = self._ask(Action.STATUS)
            return None if "refused" in told else told
        execution = living[-1]
        found = self._tried(self._one_look(execution), TRIES)
        # It has failed, or knows that it is out of office.
        execution["stopped"] = found is None or found["outcome"] == "superseded"
        return found

    def _living(self) -> list[dict[str, Any]]:
        return [each for each in self.endpoint.executions.values() if not each.get("stopped")]

    def _command(self, action: Action) -> None:
        answer = self._ask(action)
        if action is not Action.STATUS and "refused" not in answer:
            # What was taken is carried out, however short a time ago the last execution was lost.
            assert self._living()

    def _one_look(self, execution: dict[str, Any]) -> Any:
        def one() -> dict[str, Any]:
            self.looks += 1
            now = self.endpoint.now
            return service.look(self.dependencies, self.place, execution["rollout_id"], execution["fence"], now)

        return one

    def _ask(self, action: Action, rollout_id: str = "") -> dict[str, Any]:
        command = Command(action=action, fleet="chat", rollout_id=rollout_id, who="test")
        answer = self._tried(lambda: commands.run(command, self.dependencies, self.place, self.endpoint.now), TRIES)
        return answer or {"refused": "AWS"}

    def _tried(self, call: Any, tries: int) -> dict[str, Any] | None:
        for _ in range(tries):
            try:
                found: dict[str, Any] = call()
            except RETRIED:
                self.endpoint.advance(2)
                self._must_hold()
            else:
                return found
        return None

    def _must_hold(self) -> None:
        assert sum(self.endpoint.shares) == 100
        # A rollout that does not begin again where another one is: there is one record, and its rollout is the first.
        assert {each["rollout_id"] for each in self.endpoint.executions.values()} <= {"first"}
        if 0 < self.endpoint.shares[1] < 100:
            # As long as requests are shared, there is a whole side to go back to in one step.
            assert self.endpoint.halves["stable"].running == OLD
        if self.endpoint.shares[1] and self.place.scales:
            # Its nodes stay where they are, however few requests it has left.
            assert self.endpoint.suspended["stable"] == {"AlarmNotification"}


def schedules(endpoint_type: type[Endpoint], name: str) -> list[Any]:
    """The first few, and all for the long tests."""
    return [
        pytest.param((endpoint_type, FEW), id=name),
        pytest.param((endpoint_type, SCHEDULES), id=f"{name}, all", marks=pytest.mark.soak),
    ]


def share(played: list[Played]) -> float:
    """How much of what all schedules hold must be in these; few of them may be unlike the whole."""
    return 1 if len(played) == SCHEDULES else len(played) / SCHEDULES / 2


@pytest.fixture(scope="module", params=[*schedules(Endpoint, "ecs"), *schedules(HostedEndpoint, "sagemaker")])
def played(request: pytest.FixtureRequest) -> list[Played]:
    endpoint_type, count = request.param
    return [Schedule(seed, endpoint_type).play() for seed in range(count)]


def test_every_schedule_ends_and_what_is_reported_serves(played: list[Played]) -> None:
    for seed, each in enumerate(played):
        assert each.report["is_over"], (seed, each.report)
        shares, serving = ENDS[Outcome(each.report["outcome"])]
        assert each.endpoint.shares == shares, (seed, each.report)
        assert each.endpoint.serving == serving, (seed, each.report)
        assert each.report["is_true"], (seed, each.report)
        assert each.report["serves"] == sorted(serving), seed
        assert each.report["weights"] == {"stable": shares[0], "candidate": shares[1]}, seed


def test_what_deployments_read_is_what_the_stable_side_runs(played: list[Played]) -> None:
    for each in played:
        if each.endpoint.place.hosted:
            # No deployment says what serves there, and none is told.
            continue
        assert each.endpoint.parameters[PLACE.version_parameter] == each.endpoint.halves["stable"].target


def test_no_nodes_stay_behind_where_a_candidate_serves_nothing(played: list[Played]) -> None:
    for each in played:
        asked, whole = each.endpoint.halves["candidate"].asked, range(1, 5) if each.scales else (4,)
        assert asked in ((0,) if each.endpoint.shares[1] == 0 else whole)


@pytest.mark.parametrize("played", schedules(Endpoint, "ecs"), indirect=True)
def test_the_stable_side_scales_again_where_it_serves_and_stands_still_where_a_rollout_is_held(
    played: list[Played],
) -> None:
    for each in played:
        stands_still = each.scales and each.report["outcome"] == "held"
        assert each.report["stands_still"] is stands_still
        assert each.endpoint.suspended["stable"] == ({"AlarmNotification"} if stands_still else set())
        assert each.endpoint.calls["suspend_processes"] == 0 or each.scales
    assert sum(each.scales and each.report["outcome"] == "done" for each in played) >= 20 * share(played)


def test_the_schedules_hold_what_they_are_about(played: list[Played]) -> None:
    ends = Counter(each.report["outcome"] for each in played)

    part = share(played)
    assert ends["done"] >= 30 * part
    assert ends["rolled back"] >= 60 * part
    assert ends["held"] >= 3 * part
    assert sum(each.disturbed for each in played) > 1000 * part
    assert sum(each.refused_starts for each in played) >= 10 * part
    assert any(len(each.endpoint.executions) > 1 for each in played)


@pytest.mark.parametrize("played", schedules(Endpoint, "ecs"), indirect=True)
def test_no_request_goes_to_a_candidate_whose_answers_to_recorded_ones_are_not_known_to_be_good(
    played: list[Played],
) -> None:
    shadowed = [each for each in played if each.has_shadow]
    bad = [each for each in shadowed if each.endpoint.candidate_does.reports != GOOD]

    assert len(shadowed) >= 80 * share(played)
    assert len(bad) >= 12 * share(played)
    for each in bad:
        assert each.report["outcome"] == "rolled back"
        assert all(share == 0 for _, share in each.endpoint.weight_history)
    if len(played) == SCHEDULES:
        reasons = " ".join(each.report["reason"] for each in bad)
        assert [reason for reason in REASONS if reason not in reasons] == []
    assert any(each.report["outcome"] == "done" for each in shadowed)
    assert all(each.report["shadow"] for each in shadowed if each.report["outcome"] == "done")


def test_shares_rise_by_the_steps_and_fall_at_once(played: list[Played]) -> None:
    steps = [0, *PLACE.plan.steps]
    for each in played:
        before = 0
        for _, share in each.endpoint.weight_history:
            rises_by_one_step = share in steps and before in steps and steps.index(share) == steps.index(before) + 1
            assert share == 0 or rises_by_one_step or share == before
            before = share


def test_sagemaker_scales_nothing_while_requests_are_shared(played: list[Played]) -> None:
    hosted = [each.endpoint for each in played if isinstance(each.endpoint, HostedEndpoint)]
    for endpoint in hosted:
        assert endpoint.was_suspended_while_shared
        # And scales again once there is one side.
        assert any(endpoint.scaling.values()) == (endpoint.shares[1] > 0)

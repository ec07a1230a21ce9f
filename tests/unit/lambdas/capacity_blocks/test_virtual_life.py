"""A thousand blocks in virtual time, with everything going wrong at once.

Looks are lost, doubled, late and out of order; invocations overlap and crash in the middle; EC2 refuses, does not
answer, or buys and does not answer; the wrong people approve. Three things hold in every one of them.
"""

import contextlib
import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from fleet.approval import RefusedError
from fleet.blocks.life import TERMINATION
from fleet.blocks.purchase import APPROVAL_LASTS, Status
from lambdas.capacity_blocks import service
from lambdas.capacity_blocks.request_table import ConflictError, Record
from tests.support import block_world
from tests.support.block_world import APPROVER, BEGIN, REQUESTER, STRANGER, Crashed, Simulated, Trouble

SCHEDULES = 1000
MINUTE = timedelta(minutes=1)


def looks(dice: random.Random, until: datetime) -> list[datetime]:
    """A look every five minutes, of which some are lost, some come twice, and some an hour too late."""
    lost, late = dice.choice([0.0, 0.1, 0.5, 0.95]), dice.choice([0.0, 0.3])
    moments = []
    for number in range(int((until - BEGIN) / MINUTE) // 5):
        for _ in range(dice.choice([1, 1, 1, 2])):
            if dice.random() >= lost:
                delay = dice.randint(0, 60) if dice.random() < late else 0
                moments.append(BEGIN + 5 * number * MINUTE + delay * MINUTE)
    return sorted(moments)


def approvals(dice: random.Random) -> dict[datetime, str]:
    """Who tries to approve, and when."""
    people = dice.choice([(), (STRANGER,), (REQUESTER,), (APPROVER,), (APPROVER, APPROVER, STRANGER)])
    return {BEGIN + dice.randint(0, 200) * MINUTE: person for person in people}


class Schedule:
    """One block from the request to two hours after its end, minute by minute."""

    def __init__(self, seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - a simulation
        trouble = Trouble(dice, *(dice.choice([0.0, share]) for share in (0.05, 0.2, 0.2, 0.6)))
        self.world = Simulated(trouble)
        start = BEGIN + dice.randint(30, 600) * MINUTE
        made = block_world.request(start, dice.choice([6, 24, 48]))
        self.world.store.records["r1"] = Record(made)
        self.world.store.meanwhile = self._look
        self.world.market.delivery_delay = dice.choice([0, 0, 45]) * MINUTE
        self.extends_at = made.offering.end - dice.randint(20, 300) * MINUTE if dice.random() < 0.2 else None
        self.end = made.offering.end
        self.approvals = approvals(dice)
        self.looks = Counter(looks(dice, self.end + timedelta(hours=30)))
        self.approved_at: list[datetime] = []
        self.jobs_started = 0
        self.jobs_at_termination = 0
        self.dice = dice

    def run(self) -> None:
        over = self.end + timedelta(hours=2)
        while self.world.now < over:
            self._minute()
            if self.extends_at == self.world.now and self.world.market.blocks:
                self.world.market.longer = timedelta(hours=24)
                self.end += timedelta(hours=24)
                over += timedelta(hours=24)
            self.world.now += MINUTE

    def _minute(self) -> None:
        now, fleets = self.world.now, self.world.fleets
        if now == self.end - TERMINATION:
            self.jobs_at_termination += fleets.running()
        if now in self.approvals:
            self._approve(self.approvals[now])
        for _ in range(self.looks[now]):
            self._look()
        if fleets.nodes and self.dice.random() < 0.05:
            before = len(fleets.jobs)
            fleets.start_job(self.world.market.block("cr-r1", block_world.FLEET))
            self.jobs_started += len(fleets.jobs) - before

    def _look(self) -> None:
        with contextlib.suppress(Crashed):
            service.look(self.world.aws, self.world.now)

    def _approve(self, principal: str) -> None:
        with contextlib.suppress(RefusedError, ConflictError, Crashed):
            service.approve(self.world.aws, "r1", principal, self.world.now)
        record = self.world.store.records["r1"].request
        if record.status is Status.APPROVED and record.approved_by == principal == APPROVER:
            self.approved_at.append(self.world.now)


@pytest.mark.parametrize("schedules", [SCHEDULES // 8, pytest.param(SCHEDULES, marks=pytest.mark.soak)])
def test_no_job_at_termination_no_purchase_without_approval_and_never_two(schedules: int) -> None:
    totals: Counter[str] = Counter()
    for seed in range(schedules):
        schedule = Schedule(seed)
        schedule.run()
        bought = schedule.world.market.purchases.get("r1", [])

        assert schedule.jobs_at_termination == 0, seed
        assert len(bought) <= 1, seed
        for moment in bought:
            assert any(timedelta(0) <= moment - at <= APPROVAL_LASTS for at in schedule.approved_at), seed
        for at, call in schedule.world.fleets.calls:
            assert call != "scale 2" or at < schedule.end - timedelta(minutes=40), seed

        totals["bought"] += len(bought)
        totals["jobs"] += schedule.jobs_started
        totals["used"] += any(call == "scale 2" for _, call in schedule.world.fleets.calls)
        totals[schedule.world.store.records["r1"].request.status] += 1
    print(dict(totals))  # noqa: T201 - the figures of the run
    # A world in which nothing happens would prove nothing.
    part = schedules / SCHEDULES
    assert totals["bought"] > 100 * part
    assert totals["used"] > 50 * part
    assert totals["jobs"] > 500 * part
    assert totals[Status.UNCERTAIN] > 10 * part


def test_an_approver_who_was_taken_off_the_list_approves_nothing_any_more() -> None:
    world = Simulated(Trouble(random.Random(1)))  # noqa: S311 - a simulation
    world.store.records["r1"] = Record(block_world.request(BEGIN + timedelta(hours=5), 24))
    service.approve(world.aws, "r1", APPROVER, BEGIN)

    problems = service.look(replace(world.aws, approvers=frozenset({STRANGER})), BEGIN + MINUTE)

    assert problems == [f"request r1: RefusedError: {APPROVER} approved request r1 and may not any more"]
    assert world.market.purchases == {}

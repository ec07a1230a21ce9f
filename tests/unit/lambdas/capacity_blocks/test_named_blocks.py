"""Blocks that an environment file names are looked after like bought ones, and a fleet is touched for its own only."""

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from fleet.blocks import purchase
from fleet.blocks.post_mortem import NodeMinutes
from fleet.blocks.purchase import Status
from lambdas.capacity_blocks import service
from lambdas.capacity_blocks.request_table import Record
from lambdas.capacity_blocks.usage import UsageError
from tests.support import block_world
from tests.support.block_world import BEGIN, DEPLOYED, FLEET, Simulated, Trouble

MINUTE = timedelta(minutes=1)
OFFER = block_world.request(BEGIN + timedelta(hours=1), 24).offering
END = OFFER.end


def world(reservation: str = "cr-file") -> Simulated:
    """EC2 holds ``reservation``, and the file names ``cr-file``."""
    made = Simulated(Trouble(random.Random(1)))  # noqa: S311 - a simulation
    made.aws = replace(made.aws, deployed={FLEET: replace(DEPLOYED, reservation_id="cr-file")})
    made.market.blocks[reservation] = OFFER
    return made


def at(simulated: Simulated, moment: datetime) -> list[str]:
    simulated.now = moment
    return service.look(simulated.aws, moment)


def test_a_block_that_the_file_names_lives_its_life_and_its_price_is_not_made_up() -> None:
    here = world()
    for before in (24 * 60, 60, 40, 35, 30, 0, -5):
        assert at(here, END - before * MINUTE) == []

    calls = [call for _, call in here.fleets.calls]
    assert calls == ["scale 2", "scale 2", "checkpoint", "drain", "stop", "scale 0"]
    subject, body = next(text for key, text in here.people.told.items() if "post-mortem" in key)
    assert subject == "frontier: Capacity Block cr-file is over"
    assert "Paid: not known" in body


def test_it_is_adopted_once_and_not_again_when_it_is_over() -> None:
    here = world()
    for _ in range(3):
        at(here, BEGIN)
    assert list(here.store.records) == ["frontier-cr-file"]
    assert here.store.records["frontier-cr-file"].request.status is Status.PURCHASED

    late = world()
    at(late, END)
    assert late.store.records == {}


def test_a_block_that_ec2_does_not_show_is_none() -> None:
    here = world("cr-other")

    assert at(here, BEGIN) == []
    assert here.store.records == {}


def test_a_purchase_without_an_answer_is_not_adopted_besides() -> None:
    here = world()
    waiting = replace(block_world.request(OFFER.start, 24), status=Status.PURCHASING, claimed_at=BEGIN)
    here.store.records["r1"] = Record(waiting, version=1)

    at(here, BEGIN + MINUTE)

    assert list(here.store.records) == ["r1"]


def test_a_block_bought_for_later_does_not_touch_a_fleet_that_runs_in_another() -> None:
    here = world("cr-later")
    bought = purchase.bought(
        replace(block_world.request(OFFER.start, 24), status=Status.PURCHASING, claimed_at=BEGIN), "cr-later"
    )
    here.store.records["r1"] = Record(bought, version=1)
    for before in (24 * 60, 60, 40, 35, 0):
        at(here, END - before * MINUTE)

    assert here.fleets.calls == []
    assert any("announced" in key for key in here.people.told)
    assert any("propose-extension" in key for key in here.people.told)


def test_two_blocks_that_end_together_are_told_of_by_different_keys() -> None:
    here = world()
    here.market.blocks["cr-two"] = OFFER
    here.aws = replace(here.aws, deployed={**here.aws.deployed, "other": replace(DEPLOYED, reservation_id="cr-two")})

    at(here, END - 24 * 60 * MINUTE)

    assert len([key for key in here.people.told if "propose-extension" in key]) == 2


def test_the_stop_is_repeated_until_nothing_runs() -> None:
    here = world()
    at(here, END - 120 * MINUTE)
    here.fleets.jobs = [block_world.Job(END)]

    at(here, END - 35 * MINUTE)
    at(here, END - 34 * MINUTE)
    at(here, END - 33 * MINUTE)

    assert [call for _, call in here.fleets.calls].count("stop") == 2


def test_a_post_mortem_waits_an_hour_for_the_log_and_then_says_that_nothing_was_measured() -> None:
    class Silent:
        def minutes(self, fleet: str, start: datetime, end: datetime) -> Iterable[NodeMinutes]:
            raise UsageError("the log query ended as Failed")

    here = world()
    silent: Any = Silent()
    here.aws = replace(here.aws, usage=silent)
    at(here, BEGIN)

    assert at(here, END) == ["request frontier-cr-file: UsageError: the log query ended as Failed"]
    assert at(here, END + timedelta(hours=1)) == []
    assert any("post-mortem" in key for key in here.people.told)
    assert at(here, END + timedelta(hours=2)) == []


def bought_and_extended(fee_usd: float | None) -> str:
    """The post-mortem of a block of 24 hours for 1,700 USD that was extended by a day."""
    here = world("cr-later")
    bought = purchase.bought(
        replace(block_world.request(OFFER.start, 24), status=Status.PURCHASING, claimed_at=BEGIN), "cr-later"
    )
    here.store.records["r1"] = Record(bought, version=1)
    here.market.longer, here.market.extension_fee_usd = timedelta(days=1), fee_usd
    at(here, END + timedelta(days=1))
    return next(body for key, (_, body) in here.people.told.items() if "post-mortem" in key)


def test_the_post_mortem_of_an_extended_block_counts_what_the_extension_cost() -> None:
    # 1,700 + 2,140 USD for 2 instances over 48 h: 3,840 / 96
    told = bought_and_extended(2140.0)
    assert "Paid: $3,840.00 (Capacity Block fee, " in told
    assert "), $40.00 an instance-hour" in told


def test_an_extension_whose_fee_ec2_does_not_show_leaves_the_price_unknown() -> None:
    assert "Paid: not known, EC2 does not show what its extension cost" in bought_and_extended(None)


def test_a_size_that_batch_does_not_change_holds_no_checkpoint_back(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world()
    at(here, END - 24 * 60 * MINUTE)

    def refuse(*_: object) -> None:
        raise RuntimeError("Batch is busy with the compute environment")

    monkeypatch.setattr(type(here.fleets), "scale", refuse)
    problems = at(here, END - 60 * MINUTE)

    assert [call for _, call in here.fleets.calls] == ["scale 2", "checkpoint"]
    assert problems == ["request frontier-cr-file: RuntimeError: Batch is busy with the compute environment"]

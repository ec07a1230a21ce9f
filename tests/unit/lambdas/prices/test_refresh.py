"""A whole refresh: what is adopted, what stays with its age and a reason, and what is kept apart."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fleet.prices.age import staleness
from lambdas.prices.service import NothingRefreshedError, Refresh, refresh
from tests.support.price_lists import NOW, Ec2, Kept, Pricing, block, dependencies, product, question, spot

TRN1, TRN2, INF2 = "trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge"
TRN1_KEY, TRN2_KEY = f"us-east-2/{TRN1}/on-demand", f"us-east-2/{TRN2}/capacity-block"
TYPES = (TRN1, TRN2, INF2)
BLOCKS = {TRN2: [block(TRN2, "858.2592")], TRN1: [block(TRN1, "228.768")]}


def run(usd: str, kept: Kept, days: int = 0) -> Refresh:
    pricing = Pricing({TRN1: [[product(TRN1, usd)]], INF2: [[product(INF2, "12.98127")]]})
    ec2 = Ec2([[spot(INF2, "a", "1.2981"), spot(TRN1, "c", "2.15"), spot(TRN2, "c", "14.5593")]], BLOCKS)
    return refresh(dependencies(pricing, ec2, kept=kept), question(*TYPES, now=NOW + timedelta(days=days)))


def test_every_kind_is_kept_and_trn2_has_no_on_demand_price() -> None:
    kept = Kept()
    done = run("21.5", kept)

    assert done.problems == ()
    assert {key: record.price.usd_per_hour for key, record in kept.records.items() if record.detail == ""} == {
        f"us-east-2/{TRN1}/on-demand": 21.5,
        f"us-east-2/{INF2}/on-demand": 12.98127,
        f"us-east-2/{INF2}/spot": 1.2981,
        f"us-east-2/{TRN1}/spot": 2.15,
        f"us-east-2/{TRN2}/spot": 14.5593,
        f"us-east-2/{TRN1}/capacity-block": 9.532,
        f"us-east-2/{TRN2}/capacity-block": 35.7608,
    }
    assert f"on-demand: {TRN2}: AWS lists no on-demand price of it in us-east-2" in done.absent
    assert all(record.price.usd_per_hour > 0 for record in kept.records.values())


def test_a_new_figure_takes_the_place_of_the_one_before_which_is_remembered() -> None:
    kept = Kept()
    run("21.5", kept)
    run("19.99", kept, days=1)
    run("19.99", kept, days=2)

    record = kept.records[TRN1_KEY]
    assert (record.price.usd_per_hour, record.price.as_of) == (19.99, "2026-11-24")
    assert record.previous is not None
    assert (record.previous.usd_per_hour, record.previous.as_of) == (21.5, "2026-11-22")


@pytest.mark.parametrize("wild", ["64.6", "7.1", "2150"])
def test_a_wild_change_is_kept_apart_and_reported(wild: str) -> None:
    kept = Kept()
    run("21.5", kept)
    done = run(wild, kept, days=1)

    record = kept.records[TRN1_KEY]
    assert (record.price.usd_per_hour, record.price.as_of) == (21.5, "2026-11-22")
    assert record.held is not None
    assert record.held.usd_per_hour == float(wild)
    assert done.problems == (
        f"{TRN1_KEY}: not adopted: ${float(wild):g} of 2026-11-23 is more than 3 times off $21.5 of 2026-11-22",
    )


def test_three_times_is_not_wild_and_a_held_figure_that_comes_back_is_forgotten() -> None:
    kept = Kept()
    run("21.5", kept)
    run("100", kept, days=1)
    assert run("64.5", kept, days=2).problems == ()
    assert kept.records[TRN1_KEY].held is None


def test_the_first_figure_is_held_against_the_embedded_one() -> None:
    kept = Kept()
    done = run("215", kept)

    record = kept.records[TRN1_KEY]
    assert (record.price.usd_per_hour, record.price.as_of) == (21.5, "2026-10-03")
    assert record.held is not None
    assert len(done.problems) == 1


def test_a_price_that_cannot_be_read_stays_with_its_age_and_its_reason_until_it_is_stale() -> None:
    kept = Kept()
    run("21.5", kept)
    pricing = Pricing({TRN1: [["{"]]})
    done = refresh(dependencies(pricing, Ec2(blocks=BLOCKS), kept=kept), question(*TYPES, now=NOW + timedelta(days=91)))

    record = kept.records[TRN1_KEY]
    assert (record.price.usd_per_hour, record.price.as_of) == (21.5, "2026-11-22")
    assert record.problem == "an entry of the price list is no product (JSONDecodeError)"
    assert staleness(record.price, (NOW + timedelta(days=91)).date()) == "91 days old, limit 90"
    assert f"on-demand: {TRN1}: {record.problem}" in done.problems
    # The others are of that day.
    assert kept.records[TRN2_KEY].price.as_of == "2027-02-21"


def test_a_price_that_aws_lists_no_more_stays_with_its_age_and_its_reason() -> None:
    kept = Kept()
    run("21.5", kept)
    run("0", kept, days=1)

    record = kept.records[TRN1_KEY]
    assert (record.price.usd_per_hour, record.price.as_of) == (21.5, "2026-11-22")
    assert record.problem == "AWS lists no on-demand price of it in us-east-2"


def test_what_nobody_asked_about_is_left_as_it_is() -> None:
    kept = Kept()
    run("21.5", kept)
    before = kept.records[TRN1_KEY]
    refresh(dependencies(ec2=Ec2(blocks=BLOCKS), kept=kept), question(TRN2, now=NOW + timedelta(days=1)))

    assert kept.records[TRN1_KEY] == before


def test_a_source_that_breaks_takes_nothing_from_the_others() -> None:
    class Broken(Pricing):
        def get_products(self, **request: object) -> dict[str, object]:
            raise RuntimeError("boom")

    kept = Kept()
    done = refresh(dependencies(Broken(), Ec2(blocks=BLOCKS), kept=kept), question(*TYPES))

    assert kept.records[TRN2_KEY].price.usd_per_hour == 35.7608
    assert "on-demand: every type: the source failed: RuntimeError: boom" in done.problems


def test_a_record_that_cannot_be_kept_takes_nothing_from_the_others() -> None:
    kept = Kept(refuses=TRN1_KEY)
    done = run("21.5", kept)

    assert done.problems == (f"{TRN1_KEY}: it could not be kept: OSError: the table is full",)
    assert TRN2_KEY in kept.records


def test_it_is_an_error_when_nothing_at_all_was_refreshed() -> None:
    with pytest.raises(NothingRefreshedError, match="time was up"):
        refresh(dependencies(), replace(question(*TYPES), has_time=lambda: False))


def test_an_item_that_cannot_be_read_is_a_problem_and_is_written_anew() -> None:
    kept = Kept(problems=(f"{TRN1_KEY}: usd_per_hour is missing",))
    done = run("21.5", kept)

    assert done.problems == (f"{TRN1_KEY}: usd_per_hour is missing",)
    assert kept.records[TRN1_KEY].price.usd_per_hour == 21.5

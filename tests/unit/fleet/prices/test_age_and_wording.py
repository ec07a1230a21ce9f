"""When a price is stale, and that nobody reads dollars without kind and date."""

from dataclasses import replace
from datetime import date

import pytest

from fleet.fleet_spec import FleetSpec, MarketKind, Purpose
from fleet.instances import Price, PriceKind, instance_type
from fleet.prices import price_for, price_of
from fleet.prices.age import AGE_LIMIT_DAYS, staleness
from fleet.prices.wording import Fee, amount, basis, paid, rate

PRICE = Price(PriceKind.ON_DEMAND, 21.5, "us-east-2", "2026-10-03", "AWS API (read by hand)", "x")
TODAY = date(2026, 11, 22)


def test_every_kind_has_a_limit() -> None:
    assert set(AGE_LIMIT_DAYS) == set(PriceKind)


@pytest.mark.parametrize(
    ("kind", "as_of", "said"),
    [
        ("on-demand", "2026-08-24", None),
        ("on-demand", "2026-08-23", "91 days old, limit 90"),
        ("spot", "2026-11-19", None),
        ("spot", "2026-11-18", "4 days old, limit 3"),
        ("spot", "2026-11", "21 days old, limit 3"),
        ("negotiated", "2025-11-22", None),
        ("negotiated", "2025-11-20", "367 days old, limit 366"),
        ("on-demand", "soon", "its date 'soon' cannot be read"),
        ("on-demand", "2027-01-01", None),
    ],
)
def test_a_price_is_stale_after_what_its_kind_allows(kind: str, as_of: str, said: str | None) -> None:
    assert staleness(replace(PRICE, kind=PriceKind(kind), as_of=as_of), TODAY) == said


def test_words_hold_kind_date_and_source_and_that_it_is_stale() -> None:
    assert basis(PRICE, TODAY) == "on-demand, 2026-10-03 (AWS API)"
    assert rate(PRICE, TODAY) == "$21.50 per node-hour, on-demand, AWS API, as of 2026-10-03"
    assert basis(PRICE, date(2027, 1, 2)) == "on-demand, 2026-10-03 (AWS API), STALE: 91 days old, limit 90"
    assert rate(PRICE, date(2027, 1, 2)).endswith("as of 2026-10-03, STALE: 91 days old, limit 90")
    assert basis(None, TODAY) == "no price is known"
    assert (amount(None), amount(1234.5)) == ("-", "1,234.50")
    assert paid(20597.22, Fee("Capacity Block fee", TODAY)) == "$20,597.22 (Capacity Block fee, 2026-11-22)"


def spec(market: MarketKind, **changes: object) -> FleetSpec:
    made = FleetSpec("a", Purpose.TRAINING, "trn2.48xlarge", 2, "us-east-2", ("use2-az3",), market)
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def test_a_refreshed_price_lies_over_the_embedded_one_and_an_older_one_does_not() -> None:
    known = instance_type("trn1.32xlarge")
    newer, older = (
        replace(PRICE, usd_per_hour=19.99, as_of="2026-11-22"),
        replace(PRICE, usd_per_hour=1, as_of="2026-01"),
    )

    assert price_for(known, "us-east-2", MarketKind.RESERVATION, (newer, older)) == newer
    found = price_for(known, "us-east-2", MarketKind.RESERVATION, (older,))
    assert found is not None
    assert (found.usd_per_hour, found.as_of) == (21.5, "2026-10-03")


def test_trn2_never_costs_nothing() -> None:
    free = replace(PRICE, usd_per_hour=0.0, as_of="2026-11-22")

    assert price_of(spec(MarketKind.ON_DEMAND), {"trn2.48xlarge": (free,)}) is None
    blocks = price_of(spec(MarketKind.CAPACITY_BLOCK))
    assert blocks is not None
    assert blocks.usd_per_hour == 35.7608


def test_a_negotiated_rate_goes_before_every_list() -> None:
    agreed = replace(PRICE, kind=PriceKind.NEGOTIATED, usd_per_hour=17.2)
    newer = replace(PRICE, usd_per_hour=30, as_of="2026-11-22")

    assert price_of(spec(MarketKind.ON_DEMAND, price=agreed), {"trn2.48xlarge": (newer,)}) == agreed

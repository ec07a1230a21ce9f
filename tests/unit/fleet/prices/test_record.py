"""What the table keeps comes back as it was put, and what is no price is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord, PriceRecordError, accept, adopt, from_item, is_wild, to_item

PRICE = Price(PriceKind.ON_DEMAND, 21.5, "us-east-2", "2026-11-22", "AWS Price List", "pricing:GetProducts")
RECORD = PriceRecord("trn1.32xlarge", PRICE, "2026-11-22T05:17:00Z")
figures = st.floats(min_value=1e-6, max_value=1e6)


@given(figures, st.none() | figures, st.none() | figures, st.none() | st.text(min_size=1))
def test_a_record_survives_the_table(usd: float, before: float | None, held: float | None, problem: str | None) -> None:
    def of(amount: float | None) -> Price | None:
        return amount and Price(PriceKind.SPOT, amount, "us-east-2 (use2-az3)", "2026-11", "EC2", "said")  # type: ignore[return-value]  # 0 is never drawn

    price = Price(PriceKind.SPOT, usd, "us-east-2 (use2-az3)", "2026-11-22", "EC2", "said")
    record = PriceRecord("inf2.xlarge", price, "2026-11-22T05:17:00Z", "use2-az3", of(before), of(held), problem)
    assert from_item(to_item(record)) == record


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"usd_per_hour": "0"}, "usd_per_hour is 0; a price is above zero"),
        ({"usd_per_hour": "-1"}, "usd_per_hour is -1; a price is above zero"),
        ({"usd_per_hour": "inf"}, "usd_per_hour is inf; a price is above zero"),
        ({"usd_per_hour": "nan"}, "usd_per_hour is nan; a price is above zero"),
        ({"usd_per_hour": ""}, "usd_per_hour is missing"),
        ({"kind": "rented"}, "'rented' is not a valid PriceKind"),
        ({"as_of": "yesterday"}, "Invalid isoformat"),
        ({"held_usd_per_hour": "3"}, "held_as_of"),
    ],
)
def test_an_item_that_is_no_price_is_refused_by_name_and_field(changed: dict[str, str], said: str) -> None:
    with pytest.raises(PriceRecordError) as refused:
        from_item(to_item(RECORD) | changed)
    assert str(refused.value).startswith("us-east-2/trn1.32xlarge/on-demand: ")
    assert said in str(refused.value)


def test_a_held_figure_is_taken_when_somebody_accepts_it() -> None:
    wild = PriceRecord(
        "trn1.32xlarge", Price(PriceKind.ON_DEMAND, 70.0, "us-east-2", "2026-11-23", "AWS", "x"), "later"
    )
    held = adopt(RECORD, wild, None)
    taken = accept(held)

    assert held.price == PRICE
    assert (taken.price.usd_per_hour, taken.previous, taken.held, taken.problem) == (70.0, PRICE, None, None)
    with pytest.raises(PriceRecordError, match="nothing is kept apart"):
        accept(taken)


@given(figures, figures)
def test_wild_is_the_same_in_both_directions(old: float, new: float) -> None:
    ratio = max(old, new) / min(old, new)
    if abs(ratio - 3) > 1e-9:
        assert is_wild(old, new) == (ratio > 3)

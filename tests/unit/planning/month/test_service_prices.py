"""Service prices are dated, sourced and never nothing, and metrics are priced tier by tier."""

import json
from importlib.resources import files

import pytest

from planning.month.prices import metrics_usd, not_priced, service_price

DATA = json.loads(files("fleet").joinpath("data/service_prices.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", DATA["prices"])
def test_every_price_has_a_date_and_a_source(key: str) -> None:
    price = service_price(key)

    assert price.usd > 0
    assert price.as_of
    assert price.source
    assert price.provenance
    assert price.label == f"list price, us-east-1, {price.as_of} ({price.source})"


def test_every_source_is_used() -> None:
    used = {price["source"] for price in (*DATA["prices"].values(), DATA["metric_tiers"])}

    assert used == set(DATA["sources"])


@pytest.mark.parametrize(
    ("metrics", "usd"),
    [
        (0, 0),
        (140, 42),
        (10_000, 3_000),
        # The facts' table: one metric for each core and counter of 128 and of 2,000 nodes.
        (42_240, 6_224),
        (660_000, 47_500),
        # 3,000 + 240,000 x 0.10 + 750,000 x 0.05 + 500,000 x 0.02.
        (1_500_000, 74_500),
    ],
)
def test_metrics_are_priced_tier_by_tier(metrics: float, usd: float) -> None:
    assert metrics_usd(metrics) == pytest.approx(usd)


def test_what_is_not_priced_says_why() -> None:
    assert all(missing.what and missing.why for missing in not_priced())

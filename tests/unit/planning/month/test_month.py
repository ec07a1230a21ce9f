"""A month of 730 hours, worked out by hand from quantities and prices."""

import re
from dataclasses import replace
from datetime import date

import pytest

from fleet.fleet_spec import MarketKind, Purpose
from fleet.instances import Price, PriceKind
from planning.money import PlanError
from planning.month.bill import changes, month_of
from planning.month.capacity import hours_paid, running_hours
from planning.month.cloudwatch import Watching, event_bytes, watching_usd
from planning.month.design_budgets import DESIGN_BUDGETS
from planning.month.line import Group, Line, Spread
from planning.month.shape import EnvironmentShape, FleetShape, Function, Use

PRICE = Price(PriceKind.ON_DEMAND, 21.5, "us-east-2", "2026-10-03", "AWS API", "somewhere")
TRAINING = FleetShape("train", Purpose.TRAINING, "trn1.32xlarge", 16, MarketKind.ON_DEMAND, PRICE, 32, True, 0)
SERVING = FleetShape("chat", Purpose.INFERENCE, "inf2.48xlarge", 4, MarketKind.ON_DEMAND, PRICE, 24, False, 0)
RESERVED = replace(TRAINING, market=MarketKind.RESERVATION, reserved_instances=16)
BLOCK = replace(TRAINING, market=MarketKind.CAPACITY_BLOCK, reserved_instances=8)
ENVIRONMENT = EnvironmentShape(
    name="test",
    region="us-east-2",
    zones=3,
    nat_gateways=2,
    interface_endpoints=11,
    fleets=(TRAINING, SERVING),
    functions=(Function.PAGER, Function.CAPACITY_WATCH),
    tables=1,
    log_retention_days=30,
    otlp=None,
    alarm_metrics=66,
    composite_alarms=3,
    dashboards=5,
    cloudwatch_budget_usd=None,
)
ALL_OF_IT = Use(Spread.certain(1.0))


def line(environment: EnvironmentShape, what: str, use: Use | None = None) -> Line:
    return next(each for each in month_of(environment, use).lines if each.what == what)


@pytest.mark.parametrize(
    ("fleet", "hours"),
    [
        # 16 x 730 x 0.3, 0.7, 1.
        (TRAINING, Spread(3_504, 8_176, 11_680)),
        (SERVING, Spread.certain(2_920)),
        (RESERVED, Spread.certain(11_680)),
        # Ten are paid for all month, six more as they run.
        (replace(RESERVED, reserved_instances=10), Spread(7_300 + 1_314, 7_300 + 3_066, 11_680)),
        (replace(RESERVED, reserved_instances=20), Spread.certain(14_600)),
        (BLOCK, Spread.certain(5_840)),
        (replace(BLOCK, block_hours=336.0), Spread.certain(2_688)),
        (replace(BLOCK, block_hours=4_368.0), Spread.certain(5_840)),
    ],
)
def test_capacity_is_paid_for_as_it_is_bought(fleet: FleetShape, hours: Spread) -> None:
    found, _ = hours_paid(fleet, Use())

    assert (found.low, found.expected, found.high) == pytest.approx((hours.low, hours.expected, hours.high))


def test_a_line_is_a_quantity_at_a_dated_price() -> None:
    capacity = line(ENVIRONMENT, "train")

    assert capacity.usd.expected == pytest.approx(8_176 * 21.5)
    assert capacity.price == "on-demand, us-east-2, 2026-10-03 (AWS API)"
    assert capacity.because == "16 x trn1.32xlarge, on-demand: 16 nodes while jobs run: 30%, 70%, 100% of the month"


@pytest.mark.parametrize(
    ("what", "usd"),
    [
        ("NAT gateways", 2 * 730 * 0.045),
        ("interface endpoints", 11 * 3 * 730 * 0.01),
        ("load balancers", 730 * 0.0225),
        ("metric alarms", 6.60),
        ("composite alarms", 1.50),
        ("PutMetricData", 20 * 43_800 / 1_000 * 0.01),
        # 256 GB of each of 20 nodes.
        ("root volumes", 20 * 256 * 0.08),
        # 16 nodes of 5,200 bytes and 4 of 3,440 + 24 x 55 = 4,760, each minute.
        ("node events, ingested", (16 * 5_200 + 4 * 4_760) * 43_800 / 1e9 * 0.50),
        # One job of 14 and a fleet of 48; four tasks of 14 and a fleet of 44.
        ("metrics, by fleet and job", (14 + 48 + 4 * 14 + 44) * 0.30),
    ],
)
def test_every_service_by_hand(what: str, usd: float) -> None:
    assert line(ENVIRONMENT, what, ALL_OF_IT).usd.expected == pytest.approx(usd)


def test_of_stopped_nodes_the_volumes_are_paid_for_and_nothing_else() -> None:
    warm = replace(ENVIRONMENT, fleets=(TRAINING, replace(SERVING, stopped_nodes=2)))

    volumes = line(warm, "root volumes")
    more = month_of(warm).usd() - month_of(ENVIRONMENT).usd()
    # 512 GB at $0.08, whatever the use.
    assert (more.low, more.expected, more.high) == pytest.approx((40.96, 40.96, 40.96))
    assert volumes.because == "256 GiB while a node runs; 2 stopped ones, all month"


def test_a_public_load_balancer_has_addresses_in_every_zone() -> None:
    what = "addresses of the public load balancers"
    public = line(replace(ENVIRONMENT, public_balancers=2), what).usd

    assert what not in {each.what for each in month_of(ENVIRONMENT).lines}
    assert (public.low, public.expected, public.high) == pytest.approx(
        (2 * 3 * 730 * 0.005, 2 * 3 * 730 * 0.005, 8 * 2 * 3 * 730 * 0.005)
    )


def test_the_total_is_the_sum_of_the_lines() -> None:
    month = month_of(ENVIRONMENT)

    assert month.usd().expected == pytest.approx(sum(each.usd.expected for each in month.lines))
    assert month.usd().expected == pytest.approx(sum(month.usd(group).expected for group in Group))
    assert all(each.usd.low <= each.usd.expected <= each.usd.high for each in month.lines)


def test_a_fleet_without_a_price_is_named_and_not_free() -> None:
    month = month_of(replace(ENVIRONMENT, fleets=(replace(TRAINING, price=None), SERVING)))

    assert [each.what for each in month.lines if each.group is Group.CAPACITY] == ["chat"]
    assert month.not_priced[0].what == "train: 16 x trn1.32xlarge, on-demand"
    assert month.not_priced[0].why == "no on-demand price is known; 8,176 instance-hours are expected"


def test_an_environment_without_endpoints_pays_for_no_balancer() -> None:
    groups = {each.what for each in month_of(replace(ENVIRONMENT, fleets=(TRAINING,))).lines}

    assert not groups & {"load balancers", "load balancers' capacity", "access logs, S3", "Step Functions, rollouts"}


def test_series_by_core_cost_what_the_exporter_says() -> None:
    # docs/prometheus.md: 274 points of 137 bytes a minute, $0.82 a month, and 52 more of the driver and the host.
    one = replace(ENVIRONMENT, otlp="cores", fleets=(replace(TRAINING, nodes=1),))

    usd = line(one, "series over OTLP: cores", ALL_OF_IT).usd
    assert usd.low == pytest.approx(0.82, abs=0.01)
    assert usd.expected == pytest.approx((274 + 52) * 137 * 43_800 / 1e9 * 0.5, rel=0.005)


@pytest.mark.parametrize(("nodes", "usd"), [(128, 6.91), (2_000, 108.01)])
def test_what_rules_read_costs_a_tenth_of_the_budget_for_watching(nodes: int, usd: float) -> None:
    fleet = replace(ENVIRONMENT, otlp="rules", fleets=(replace(TRAINING, nodes=nodes),))

    assert line(fleet, "series over OTLP: rules", ALL_OF_IT).usd.expected == pytest.approx(usd, abs=0.01)


def test_other_regions_are_said_to_be_an_approximation() -> None:
    assert month_of(ENVIRONMENT).notes == ()
    (note,) = month_of(replace(ENVIRONMENT, region="ap-southeast-2")).notes
    assert note == "prices of services are of us-east-1; ap-southeast-2 may differ by a third and more"


def test_what_changes_is_shown_and_what_stays_is_not() -> None:
    before = month_of(replace(ENVIRONMENT, nat_gateways=1, fleets=(TRAINING,)))
    moved = {change.what: change for change in changes(before, month_of(ENVIRONMENT))}

    assert moved["NAT gateways"].usd.expected == pytest.approx(730 * 0.045)
    assert moved["chat"].before is None
    assert moved["chat"].usd.expected == pytest.approx(2_920 * 21.5)
    assert "interface endpoints" not in moved
    gone = {change.what: change for change in changes(month_of(ENVIRONMENT), before)}
    assert gone["chat"].after is None
    assert gone["chat"].usd.expected == pytest.approx(-2_920 * 21.5)


def test_the_budget_is_held_against_what_is_expected_of_cloudwatch() -> None:
    expected = month_of(ENVIRONMENT).usd(Group.CLOUDWATCH).expected

    assert not month_of(ENVIRONMENT).is_over_cloudwatch_budget
    assert not month_of(replace(ENVIRONMENT, cloudwatch_budget_usd=expected)).is_over_cloudwatch_budget
    assert month_of(replace(ENVIRONMENT, cloudwatch_budget_usd=expected - 0.01)).is_over_cloudwatch_budget


@pytest.mark.parametrize("shares", [(0.5, 0.4, 1.0), (-0.1, 0.5, 1.0), (0.1, 0.5, 1.1), (float("nan"), 0.5, 1)])
def test_use_that_is_no_share_of_a_month_is_refused(shares: tuple[float, float, float]) -> None:
    with pytest.raises(PlanError, match="give low,expected,high in that order"):
        Use(Spread(*shares))


def test_the_formula_meets_the_recommended_design() -> None:
    # 14 metrics a job and 28 a cluster with events of 4,000 bytes: $53 and $709.
    assert watching_usd(Watching(128, 8, 14, 28, 4_000)) == pytest.approx(53.21, abs=0.005)
    assert watching_usd(Watching(2_000, 125, 14, 28, 4_000)) == pytest.approx(708.60, abs=0.005)


def test_the_design_keeps_its_budgets_with_what_agents_publish() -> None:
    small, large = DESIGN_BUDGETS

    # 144 metrics and 128 x 5,200 x 43,800 bytes; 1,596 metrics and 2,000 x 5,200 x 43,800 bytes.
    assert event_bytes(32).expected == 5_200
    assert small.expected_usd == pytest.approx(144 * 0.30 + 14.57664)
    assert large.expected_usd == pytest.approx(1_596 * 0.30 + 227.76)
    assert (small.expected_usd <= 60, large.expected_usd <= 720) == (True, True)


def test_the_design_does_not_keep_them_once_every_job_reports_tokens_and_loss() -> None:
    small, large = DESIGN_BUDGETS

    assert (round(small.with_workload_usd, 2), round(large.with_workload_usd, 2)) == (62.58, 781.56)
    # The formula leaves requests out, which cost as much again.
    assert (round(small.requests_usd, 2), round(large.requests_usd, 2)) == (56.06, 876.00)


def test_a_node_of_a_block_is_watched_no_longer_than_the_block_lasts() -> None:
    assert running_hours(replace(BLOCK, block_hours=24.0), ALL_OF_IT) == Spread.certain(24)
    assert running_hours(BLOCK, ALL_OF_IT) == Spread.certain(730)


def test_old_prices_of_services_are_said_to_be_stale() -> None:
    (note,) = month_of(ENVIRONMENT, today=date(2030, 1, 1)).notes
    assert re.fullmatch(r"STALE: (\d+) of \1 list prices of services are too old or undated, the oldest of .*", note)


def test_what_nodes_send_and_what_their_agents_are_asked_is_added_to_what_else_there_is() -> None:
    one = replace(ENVIRONMENT, fleets=(SERVING,))

    # 2 GB a node; and 3,440 + 24 cores x 55 bytes, each of 43,800 minutes, of 4 nodes.
    sent = line(one, "through the interface endpoints").quantity.expected
    assert sent == pytest.approx(8 + 4_760 * 43_800 * 4 / 1e9)
    # 30,000 of dashboards, and one a minute.
    assert line(one, "GetMetricData").quantity.expected == 30_000 + 43_800

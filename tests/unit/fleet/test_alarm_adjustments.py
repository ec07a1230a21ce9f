"""What a fleet's owner changes about its alarms, in both sets by the same words."""

import pytest

from fleet.alarms import (
    Adjustment,
    Adjustments,
    AlarmSettings,
    AlarmSpec,
    CompositeSpec,
    ContributorSpec,
    Severity,
    Spec,
    alarms_in,
    contributor_alarms,
    fleet_alarms,
    followed_alarms,
)
from fleet.alarms.adjustments import may_last
from fleet.fleet_spec import MarketKind

SETTINGS = AlarmSettings(
    environment="prod", fleet="f", purpose="training", market=MarketKind.ON_DEMAND, nodes=8, has_efa=True
)
PLAIN = fleet_alarms(SETTINGS)


def classic(**by_key: Adjustment) -> dict[str, Spec]:
    return {spec.key: spec for spec in Adjustments(by_key=by_key).applied(PLAIN)}


def followed(**by_key: Adjustment) -> dict[str, ContributorSpec]:
    found = Adjustments(by_key=by_key).applied_to_followed(contributor_alarms(SETTINGS), PLAIN)
    return {spec.key: spec for spec in found}


def test_what_nobody_changes_stays_as_it_is() -> None:
    assert Adjustments().applied(PLAIN) == PLAIN
    assert Adjustments().applied_to_followed(contributor_alarms(SETTINGS), PLAIN) == contributor_alarms(SETTINGS)


def test_a_fleet_that_wakes_nobody_has_tickets_only_but_for_what_it_names() -> None:
    but_one = Adjustments(wakes=False, by_key={"HardwareFault": Adjustment(severity=Severity.PAGE)})
    specs = followed_alarms(SETTINGS, but_one.applied(PLAIN), but_one)

    assert {spec.key for spec in specs if spec.notifies and spec.severity is Severity.PAGE} == {"HardwareFault"}
    assert all(spec.severity is Severity.TICKET for spec in Adjustments(wakes=False).applied(PLAIN))


def test_an_alarm_may_wake_somebody_that_does_not_by_itself() -> None:
    asked = {"Straggler": Adjustment(severity=Severity.PAGE)}

    assert classic(**asked)["Straggler"].severity is Severity.PAGE
    assert followed(**asked)["Straggler"].severity is Severity.PAGE


def test_an_alarm_lasts_as_long_as_its_owner_wants_and_looks_as_much_further_back() -> None:
    before = {spec.key: spec for spec in PLAIN}["FleetBlind"]
    after = classic(FleetBlind=Adjustment(minutes=15))["FleetBlind"]

    assert isinstance(before, AlarmSpec)
    assert isinstance(after, AlarmSpec)
    assert (before.datapoints, after.datapoints) == ((5, 10), (15, 20))
    pending = followed()["FleetBlind"].pending_seconds
    assert followed(FleetBlind=Adjustment(minutes=15))["FleetBlind"].pending_seconds == pending + 600
    assert followed(FleetBlind=Adjustment(minutes=1))["FleetBlind"].pending_seconds == pending - 240
    assert followed(HardwareFault=Adjustment(minutes=1))["HardwareFault"].pending_seconds == 0


def test_the_minutes_of_a_composite_alarm_are_those_of_its_parts() -> None:
    found = classic(LowUtilization=Adjustment(minutes=30), HardwareFault=Adjustment(minutes=2))
    low = found["LowUtilization"]

    assert isinstance(low, CompositeSpec)
    windows = {part.key: part.datapoints for part in alarms_in(low.rule)}
    assert windows["UtilizationBelowThreshold"] == windows["WasteAboveThreshold"] == (30, 35)
    assert windows["HardwareFault"] == (2, 7)
    # What is read is what is deployed.
    assert set(alarms_in(low.rule)) <= set(found.values())
    more = 60 * (30 - 12)
    pending = followed()["LowUtilization"].pending_seconds
    assert followed(LowUtilization=Adjustment(minutes=30))["LowUtilization"].pending_seconds == pending + more


def test_what_is_off_tells_nobody_and_is_kept_where_another_alarm_reads_it() -> None:
    off = Adjustment(is_off=True)
    found = classic(HardwareFault=off, SpoolGrowing=off)

    assert "SpoolGrowing" not in found
    assert not found["HardwareFault"].notifies
    assert "HardwareFault" not in followed(HardwareFault=off)
    without = classic(LowUtilization=off)
    assert {"LowUtilization", "UtilizationBelowThreshold", "WasteAboveThreshold"}.isdisjoint(without)
    assert without["HardwareFault"].notifies


@pytest.mark.parametrize("spec", [spec for spec in PLAIN if spec.notifies], ids=lambda spec: spec.key)
def test_every_alarm_of_a_fleet_that_trains_may_be_asked_to_last(spec: Spec) -> None:
    assert may_last(spec)

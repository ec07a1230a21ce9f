"""What the pager of ``prod`` has of its alarms: those of three fleets, bought in every way, and of the platform."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from fleet import alarm_page, naming
from fleet.alarm_page import AlarmPage
from fleet.alarms import (
    AlarmSettings,
    Severity,
    Spec,
    change_in_progress,
    endpoint_alarms,
    fleet_alarms,
    metrics_budget,
    platform_alarms,
    precompile_alarms,
)
from fleet.fleet_spec import MarketKind
from fleet.load_balancer import EndpointNames

RUNBOOKS_URL: Final = "https://runbooks.test/docs/runbooks"


def every_alarm() -> Iterator[Spec]:
    """All that can be told of, each way of buying included."""
    for market in MarketKind:
        serving = AlarmSettings(environment="prod", fleet="inf2-chat", purpose="inference", market=market, nodes=4)
        yield from fleet_alarms(serving)
        yield from endpoint_alarms(serving, EndpointNames("app/chat/1", "targetgroup/chat/1"))
        for fleet in ("trn2-frontier", "trn1-pretrain"):
            yield from fleet_alarms(
                AlarmSettings(
                    environment="prod", fleet=fleet, purpose="training", market=market, nodes=16, has_efa=True
                )
            )
    yield from platform_alarms("prod", has_block_engine=True, has_pools=True, forecast_percent=105)
    yield from precompile_alarms("prod", "arn:aws:states:us-east-2:111122223333:stateMachine:precompile")
    yield metrics_budget("prod", jobs_planned=30)
    yield change_in_progress("prod")


@cache
def alarm_pages() -> dict[str, AlarmPage]:
    """By the alarm's name, as a synthesis writes them down."""
    test = naming.alarm_name("prod", naming.PLATFORM, naming.PAGE_TEST)
    # Bought in another way, an alarm of the same name may be a ticket in other words: what wakes somebody stays.
    by_severity = sorted(every_alarm(), key=lambda spec: spec.severity is Severity.PAGE)
    pages = {spec.name: spec.page(RUNBOOKS_URL) for spec in by_severity if spec.notifies}
    return {**pages, test: alarm_page.page_test()}

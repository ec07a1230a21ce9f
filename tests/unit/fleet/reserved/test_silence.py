"""One agent among many that says nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fleet.fleet_spec import MarketKind
from fleet.reserved.assessment import agents_heard, assess, silent_nodes
from fleet.reserved.observed import Seen
from tests.support.alarm_minutes import Minute, last_state
from tests.support.watched_capacity import NOW, nodes, on_demand
from tests.unit.fleet.test_capacity_alarms import ALARM, OK, alarm


@pytest.mark.parametrize(
    ("heartbeats", "heard"),
    [
        ([8, 8, 8, 8, 8], 8),
        ([7, 7, 7, 7, 7], 7),
        # A batch that was sent twice, and one that is late, are no agents more or less.
        ([7, 7, 8, 7, 7], 7),
        ([8, 8, 8, 8, 5], 8),
        # Minutes in which nobody spoke are minutes.
        ([8, 8], 0),
        ([], 0),
    ],
)
def test_the_median_minute_says_how_many_agents_live(heartbeats: list[float], heard: int) -> None:
    assert agents_heard(heartbeats) == heard


def test_a_node_that_boots_is_not_silent_yet() -> None:
    booting = [replace(each, launched_at=NOW - timedelta(minutes=19)) for each in nodes(2)]

    assert silent_nodes([*nodes(8), *booting], 8, NOW) == 0
    assert silent_nodes([*nodes(8), *booting], 7, NOW) == 1
    # Young nodes that speak already are no reason to count backwards.
    assert silent_nodes([*nodes(8), *booting], 10, NOW) == 0


def test_what_could_not_be_asked_is_not_known() -> None:
    assert assess(on_demand(), Seen(nodes=nodes(8), agents=None), NOW).silent is None
    assert assess(on_demand(), Seen(nodes=nodes(8), agents=6), NOW).silent == 2


def test_ten_minutes_of_one_silent_agent_are_a_ticket_and_an_update_is_none() -> None:
    spec = alarm("AgentSilent", MarketKind.SPOT)
    silent: Minute = {"SilentNodes": 1, "PresentNodes": 8}
    well: Minute = {"SilentNodes": 0, "PresentNodes": 8}

    assert last_state(spec, (10, silent)) is ALARM
    assert last_state(spec, (9, silent), (1, well), before=OK) is OK
    # Where the watch does not know, nothing opens and nothing closes.
    assert last_state(spec, (10, silent), (15, {"PresentNodes": 8})) is ALARM


def test_where_none_speaks_it_is_fleet_silents() -> None:
    spec = alarm("AgentSilent", MarketKind.SPOT)

    # Heartbeats that come later do not make it one.
    late: Minute = {"SilentNodes": 8, "PresentNodes": 8, "AgentHeartbeat": 1}
    assert last_state(spec, (20, late), before=OK) is OK

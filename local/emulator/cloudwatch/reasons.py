"""How CloudWatch words a composite alarm's transition, and how it writes times."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from local.alarm_evaluation import Transition


def triggering_alarms(change: Transition, arn_of: Callable[[str], str]) -> list[dict[str, Any]]:
    """The alarms of the rule that changed since the composite last did, the latest first."""
    return [
        {"arn": arn_of(each.alarm), "state": {"value": each.state.value, "timestamp": timestamp(each.at)}}
        for each in change.triggers
    ]


def composite_reason(triggers: Sequence[Mapping[str, Any]]) -> str:
    """Names the latest of ``triggering_alarms``."""
    if not triggers:
        return "The alarm rule was evaluated and no alarm in it has changed"
    first = triggers[0]
    at = datetime.strptime(first["state"]["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    return f"{first['arn']} transitioned to {first['state']['value']} at {at:%A %d %B, %Y %H:%M:%S} UTC"


def timestamp(seconds: float) -> str:
    """Unix seconds as alarm notifications write a time: ``2026-11-21T03:00:00.000+0000``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"

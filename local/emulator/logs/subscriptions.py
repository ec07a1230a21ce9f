"""Subscription filters whose destination is a Firehose stream, which ministack stores and does not deliver to."""

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ministack.core.responses import get_account_id
from ministack.services import cloudwatch_logs, firehose

# The part of the filter syntax that our own subscriptions use: one property of a JSON event, any value or a text.
_PATTERN: Final = re.compile(r'\{\s*\$\.(\w+)\s*=\s*(\*|"([^"]*)")\s*\}')


class FilterPatternError(ValueError):
    """A filter pattern that is not understood here; the deploy of its subscription would have to be refused."""


def deliver_to_firehose() -> None:
    """``cloudwatch_logs._fanout_to_subscription_filters``, for one more kind of destination."""
    others = cloudwatch_logs._fanout_to_subscription_filters

    def fan_out(group: str, stream: str, events: list[dict[str, Any]]) -> None:
        others(group, stream, events)
        filters = cloudwatch_logs._log_groups.get(group, {}).get("subscriptionFilters") or {}
        for each in filters.values():
            name = each.get("destinationArn", "").partition(":deliverystream/")[2]
            matching = [event for event in events if matches(each.get("filterPattern", ""), event.get("message", ""))]
            if name and matching:
                _deliver(name, _batch(group, stream, each.get("filterName", ""), matching))

    cloudwatch_logs._fanout_to_subscription_filters = fan_out


def matches(pattern: str, message: str) -> bool:
    """Whether an event goes to the subscription.

    Raises:
        FilterPatternError: the pattern is not understood.
    """
    if not pattern.strip():
        return True
    found = _PATTERN.fullmatch(pattern.strip())
    if found is None:
        raise FilterPatternError(f"filter pattern {pattern!r} is not understood here")
    try:
        event = json.loads(message)
    except ValueError:
        return False
    value = event.get(found[1]) if isinstance(event, dict) else None
    return value is not None and (found[2] == "*" or value == found[3])


def _deliver(name: str, batch: bytes) -> None:
    stream = firehose._streams.get(name)
    for destination in stream["destinations"] if stream else ():
        firehose._deliver_records_to_s3(stream, destination, [(firehose._record_id(), batch)])


def _batch(group: str, stream: str, subscription: str, events: Iterable[Mapping[str, Any]]) -> bytes:
    entries = [
        {"id": f"{number:056}", "timestamp": event["timestamp"], "message": event["message"]}
        for number, event in enumerate(events)
    ]
    document = {
        "messageType": "DATA_MESSAGE",
        "owner": get_account_id(),
        "logGroup": group,
        "logStream": stream,
        "subscriptionFilters": [subscription],
        "logEvents": entries,
    }
    return gzip.compress(json.dumps(document).encode(), compresslevel=1)

"""What Auto Scaling did to its groups, and why it could not."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from local.emulator.api.answers import Entry, page
from local.emulator.clock import EmulatorClock

FAILED: Final = "Failed"
SUCCESSFUL: Final = "Successful"
# Auto Scaling remembers six weeks; this is more than any test or demo makes.
_KEPT: Final = 1000
_BETWEEN_TRIES: Final = timedelta(minutes=1)


@dataclass(slots=True)
class ScalingActivities:
    """The activities of every group of an account, the newest first."""

    clock: EmulatorClock
    _activities: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)

    def record(self, region: str, group: str, status: str, message: str) -> Entry:
        """Add an activity; a failure that repeats within a minute is one, because Auto Scaling waits between tries."""
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        known = self._activities.setdefault((region, group), [])
        is_again = known and status == FAILED and known[0]["StatusMessage"] == message
        if is_again and now - known[0]["StartTime"] < _BETWEEN_TRIES:
            return known[0]
        added = {
            "ActivityId": str(uuid.uuid4()),
            "AutoScalingGroupName": group,
            "Description": _description(status, message),
            "Cause": f"At {now:%Y-%m-%dT%H:%M:%SZ} an instance was started in response to a difference between "
            "desired and actual capacity, increasing the capacity.",
            "StartTime": now,
            "EndTime": now,
            "StatusCode": status,
            "StatusMessage": message or None,
            "Progress": 100,
            "Details": "{}",
        }
        known.insert(0, added)
        del known[_KEPT:]
        return added

    def describe(self, region: str, groups: list[str], request: Mapping[str, Any]) -> Entry:
        """DescribeScalingActivities of these groups."""
        found = [each for group in groups for each in self._activities.get((region, group), [])]
        found.sort(key=lambda each: each["StartTime"], reverse=True)
        entries, more = page(found, request, size="MaxRecords")
        return {"Activities": entries, **more}


def _description(status: str, message: str) -> str:
    launching = "Launching a new EC2 instance"
    return f"{launching}.  Status Reason: {message}" if status == FAILED else f"{launching}: {message}".rstrip(": ")

"""Where samples and reports lie in the bucket. Their names begin with the fleet, which is what roles are limited to."""

from datetime import datetime, timezone
from typing import Final

_SAMPLES: Final = "samples"
_REPORTS: Final = "reports"
_TIME: Final = "%Y%m%dT%H%M%SZ"


def samples(fleet: str) -> str:
    """The prefix of all samples of ``fleet``."""
    return f"{_SAMPLES}/{fleet}/"


def samples_before(fleet: str, at: float) -> str:
    """A name that all samples from ``at`` on (seconds since 1970) come after."""
    return f"{samples(fleet)}{_stamp(at)}"


def sample(fleet: str, at: float, version: str, task: str) -> str:
    """One task's batch that ended ``at``. The time comes first: who wants the newest need not list all the others."""
    return f"{samples_before(fleet, at)}/{version}/{task}.json"


def reports(fleet: str) -> str:
    """The prefix of all reports of ``fleet``."""
    return f"{_REPORTS}/{fleet}/"


def report(fleet: str, version: str, task: str) -> str:
    """The report of one task. A task runs once, so what lies there is never of an earlier rollout."""
    return f"{reports(fleet)}{version}/{task}.json"


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, timezone.utc).strftime(_TIME)

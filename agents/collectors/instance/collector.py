"""What AWS says it will do to this instance: Spot interruptions, maintenance, scale-in. From instance metadata.

A notice with a time that has come, or comes within minutes, is a reason to drain. What may never happen (a rebalance
recommendation) or lies days ahead (maintenance) is a note: a node that drained for it would be excused from every
utilization alarm for all that time.

The work on the node is told by marker files (``marking``): to save and end where the instance goes for good, to save
and go on where it may go, or comes back.

Items and their forms: AWS's "Instance metadata categories", "Spot Instance interruption notices", "View scheduled
events" and "Retrieve the target lifecycle state". The end of a Capacity Block is announced by EventBridge 40 minutes
ahead; that ``spot/instance-action`` also announces it on the instance is not verified, and read in case it does.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import msgspec

from agents.collectors.collector import Contribution, Request
from agents.collectors.instance.marking import Marker, Marks
from agents.collectors.instance.metadata import InstanceMetadata
from agents.errors import MetadataError

logger = logging.getLogger(__name__)
# Below the pool's deadline, so that one slow answer does not cost the minute what the others say.
TIMEOUT_SECONDS: Final = 0.6
# How long before a scheduled event the node lets go of its work: time for a checkpoint.
_LEAD: Final = timedelta(minutes=10)
# Where nothing has ever answered there is no instance metadata; it is asked again after this many seconds.
_ABSENT_SECONDS: Final = 300.0
_NOTICES_SHOWN: Final = 10
_LONGEST_TEXT: Final = 80
_OVER: Final = frozenset({"completed", "canceled"})


# Without a zone a time would be taken for the host's own.
_Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class _Action(msgspec.Struct, frozen=True):
    action: str
    time: _Instant


class _Recommendation(msgspec.Struct, frozen=True):
    noticeTime: _Instant  # noqa: N815 - the name in the JSON


class _Scheduled(msgspec.Struct, frozen=True, rename="pascal"):
    code: str
    not_before: str
    not_after: str = ""
    state: str = "active"


@dataclass(frozen=True, slots=True)
class _Notice:
    kind: str
    at: datetime | None
    action: str
    draining: str | None = None
    marker: Marker | None = None

    def entry(self) -> dict[str, Any]:
        at = None if self.at is None else self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        fields = {"kind": self.kind, "at": at, "action": self.action[:_LONGEST_TEXT]}
        return {name: value for name, value in fields.items() if value}

    def words(self) -> str:
        """Differ between two notices, as a rebalance recommendation from an older one."""
        return self.draining or (self.kind if self.at is None else f"{self.kind} at {self.at.isoformat()}")


class NoticeCollector:
    """Asks for the four kinds of notices once a minute, and once for what the instance is."""

    name = "notices"

    def __init__(self, metadata: InstanceMetadata, marks: Marks) -> None:
        self._metadata = metadata
        self._marks = marks
        self._instance: dict[str, str] = {}
        self._was_reached = False
        self._absent_until = float("-inf")

    def collect(self, request: Request) -> Contribution:
        """Notices that hold now. An unreachable service is a problem only where it once answered."""
        if request.now < self._absent_until:
            return Contribution()
        now = datetime.fromtimestamp(request.now, tz=UTC)
        found: list[_Notice] = []
        problems: list[str] = []
        try:
            self._learn_instance()
            for item, read in _READERS.items():
                text = self._metadata.get(item)
                try:
                    found += [] if not text else read(text, now, self._instance.get("lifecycle", ""))
                except (ValueError, OverflowError) as error:
                    problems.append(f"instance metadata: {item} is not understood: {str(error)[:_LONGEST_TEXT]}")
        except MetadataError as error:
            if not self._was_reached:
                logger.info("no notices: %s", error)
                self._absent_until = request.now + _ABSENT_SECONDS
                return Contribution()
            problems.append(str(error))
        problems += self._tell(found, request.now, is_whole=not problems)
        event: dict[str, Any] = {"instance": self._instance} if self._instance else {}
        if found:
            event["notices"] = [notice.entry() for notice in found[:_NOTICES_SHOWN]]
        draining = next((notice.draining for notice in found if notice.draining), None)
        return Contribution(event=event, draining=draining, problems=tuple(problems))

    def _tell(self, found: list[_Notice], now: float, *, is_whole: bool) -> Iterable[str]:
        """Mark what was found, and take a mark back when all items were read and none asks for it any more."""
        for marker in Marker:
            reasons = [notice.words() for notice in found if notice.marker is marker]
            try:
                if reasons:
                    self._marks.put(marker, reasons[0], now)
                elif is_whole:
                    self._marks.withdraw(marker)
            except OSError as error:
                yield f"marker {marker}: {error.strerror or error}"

    def _learn_instance(self) -> None:
        if self._was_reached:
            return
        items = {
            "type": "instance-type",
            "availability_zone": "placement/availability-zone",
            "lifecycle": "instance-life-cycle",
        }
        found = {name: self._metadata.get(item) for name, item in items.items()}
        self._instance = {name: value[:_LONGEST_TEXT] for name, value in found.items() if value}
        self._was_reached = True


def _spot(text: str, _now: datetime, lifecycle: str) -> Iterable[_Notice]:
    seen = msgspec.json.decode(text, type=_Action)
    is_block = lifecycle == "capacity-block"
    what = "capacity block ends" if is_block else "spot interruption"
    kind = "capacity-block-end" if is_block else "spot-interruption"
    draining = f"{what} at {_clock(seen.time)}: {seen.action[:_LONGEST_TEXT]}"
    yield _Notice(kind, seen.time, seen.action, draining, Marker.DRAIN)


def _rebalance(text: str, _now: datetime, _lifecycle: str) -> Iterable[_Notice]:
    at = msgspec.json.decode(text, type=_Recommendation).noticeTime
    yield _Notice("rebalance-recommendation", at, "", marker=Marker.CHECKPOINT)


def _scheduled(text: str, now: datetime, _lifecycle: str) -> Iterable[_Notice]:
    for event in msgspec.json.decode(text, type=list[_Scheduled]):
        if event.state in _OVER:
            continue
        begins = _time(event.not_before)
        ends = _time(event.not_after) if event.not_after else None
        is_near = now >= begins - _LEAD and (ends is None or now <= ends)
        code = event.code[:_LONGEST_TEXT]
        draining = f"{code} is scheduled for {_clock(begins)}" if is_near else None
        # A job that ended for it might be started on this very node again, and end again, until its attempts are used.
        yield _Notice("scheduled-event", begins, code, draining, Marker.CHECKPOINT if is_near else None)


def _scaling(text: str, _now: datetime, _lifecycle: str) -> Iterable[_Notice]:
    state = text.rpartition(":")[2]
    if state == "Terminated":
        yield _Notice("scale-in", None, text, "the auto scaling group terminates the instance", Marker.DRAIN)
    elif state in {"Detached", "Standby"}:
        yield _Notice("auto-scaling", None, text)


_READERS: Final = {
    "spot/instance-action": _spot,
    "autoscaling/target-lifecycle-state": _scaling,
    "events/maintenance/scheduled": _scheduled,
    "events/recommendations/rebalance": _rebalance,
}


def _time(text: str) -> datetime:
    # "21 Jan 2019 09:00:43 GMT", whatever the language of the host: month names are not left to strptime's locale.
    day, month, year, clock, zone = text.split()
    if zone != "GMT":
        raise ValueError(f"{text!r} is not in GMT")
    number = _MONTHS.index(month.lower()) + 1
    return datetime.fromisoformat(f"{year}-{number:02d}-{int(day):02d}T{clock}+00:00")


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%H:%MZ")

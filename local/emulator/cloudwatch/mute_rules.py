"""PutAlarmMuteRule and its siblings: mute rules as the API gives and answers them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from local.alarm_evaluation.schedules import Once, ScheduleError, parse_duration, parse_schedule
from local.alarm_evaluation.suppression import MuteRule
from local.emulator.cloudwatch.alarms import AlarmStore
from local.emulator.cloudwatch.errors import ApiError, missing, validation

MAX_TARGETS: Final = 100


@dataclass(frozen=True, slots=True)
class _Kept:
    settings: Mapping[str, Any]
    rule: MuteRule
    updated_at: float


class MuteRuleStore:
    """The mute rules of one region, whose alarms are told of each that comes and goes."""

    def __init__(self, arn_prefix: str, alarms: AlarmStore, now: Callable[[], float]) -> None:
        self._arn_prefix = arn_prefix
        self._alarms = alarms
        self._now = now
        self._rules: dict[str, _Kept] = {}

    def put(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Create or replace a rule; raises ``ApiError`` and changes nothing when it is wrong."""
        rule = _rule(request)
        self._rules[rule.name] = _Kept(request, rule, self._now())
        self._alarms.mute(rule)
        return {}

    def delete(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Take a rule away; one that does not exist is no error."""
        if self._rules.pop(request["AlarmMuteRuleName"], None):
            self._alarms.unmute(request["AlarmMuteRuleName"])
        return {}

    def get(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """One rule as it was put, with what it does now."""
        kept = self._rules.get(request["AlarmMuteRuleName"])
        if kept is None:
            raise ApiError("ResourceNotFoundException", f"Mute rule {request['AlarmMuteRuleName']} does not exist", 404)
        shown = ("Name", "Description", "Rule", "MuteTargets", "StartDate", "ExpireDate")
        return {**{name: kept.settings[name] for name in shown if name in kept.settings}, **self._summary(kept)}

    def list(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The rules that mute an alarm, or that have a status; all in one page."""
        found = [
            self._summary(kept)
            for kept in self._rules.values()
            if request.get("AlarmName") is None or request["AlarmName"] in kept.rule.alarms
        ]
        statuses = request.get("Statuses")
        return {"AlarmMuteRuleSummaries": [each for each in found if not statuses or each["Status"] in statuses]}

    def _summary(self, kept: _Kept) -> dict[str, Any]:
        dates = {name: kept.settings[name] for name in ("ExpireDate",) if name in kept.settings}
        return {
            "AlarmMuteRuleArn": f"{self._arn_prefix}:alarm-mute-rule:{kept.rule.name}",
            "Status": kept.rule.status(self._now()).value,
            "MuteType": "ONE_TIME" if isinstance(kept.rule.schedule, Once) else "RECURRING",
            "LastUpdatedTimestamp": kept.updated_at,
            **dates,
        }


def _rule(request: Mapping[str, Any]) -> MuteRule:
    for required in ("Name", "Rule"):
        if not request.get(required):
            raise missing(required)
    targets = (request.get("MuteTargets") or {}).get("AlarmNames") or []
    if len(targets) > MAX_TARGETS:
        raise validation(f"MuteTargets holds {len(targets)} alarms; the limit is {MAX_TARGETS}")
    schedule = request["Rule"]["Schedule"]
    zone = schedule.get("Timezone", "UTC")
    try:
        return MuteRule(
            name=request["Name"],
            schedule=parse_schedule(schedule["Expression"], zone),
            seconds=parse_duration(schedule["Duration"]),
            alarms=frozenset(targets),
            starts=_date(request.get("StartDate"), zone),
            expires=_date(request.get("ExpireDate"), zone),
        )
    except ScheduleError as error:
        raise validation(str(error)) from error


def _date(given: float | str | None, zone: str) -> float | None:
    """The API's unix seconds, or CloudFormation's ISO 8601 text, in the schedule's time zone unless it names one."""
    if not isinstance(given, str):
        return given
    try:
        time = datetime.fromisoformat(given)
    except ValueError as error:
        raise validation(f"Date {given!r} is not ISO 8601, such as 2026-04-15T08:00:00") from error
    return (time if time.tzinfo else time.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC).timestamp()

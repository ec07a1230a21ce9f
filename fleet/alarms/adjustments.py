"""What a fleet's owner changes about its alarms: whom they wake, how long something must last, which are off.

The alarms themselves know nothing of it: a set is adjusted when it is whole, the classic one and the one in PromQL by
the same words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fleet.alarms.specs import (
    AlarmSpec,
    AllOf,
    CompositeSpec,
    ContributorSpec,
    InAlarm,
    Not,
    Rule,
    Severity,
    TreatMissingData,
    alarms_in,
)

AnySpec = AlarmSpec | CompositeSpec | ContributorSpec
# PutMetricAlarm in CloudWatch's API reference: periods of one minute may add up to a day.
MOST_MINUTES: Final = 12 * 60


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Of one alarm; None leaves what is as it is. ``minutes`` are those of which the classic alarm wants M."""

    severity: Severity | None = None
    minutes: int | None = None
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class Adjustments:
    """Of all alarms of a fleet by key. Without ``wakes`` whatever would page is a ticket, unless its key says page."""

    wakes: bool = True
    by_key: Mapping[str, Adjustment] | None = None

    def of(self, key: str) -> Adjustment:
        """What is said of this alarm."""
        return (self.by_key or {}).get(key, Adjustment())

    def applied(self, classic: Iterable[AlarmSpec | CompositeSpec]) -> tuple[AlarmSpec | CompositeSpec, ...]:
        """The classic set as its owner wants it.

        A part of a composite alarm lasts as long as that one must. What is off and read by a composite alarm is kept,
        and tells nobody.
        """
        specs = tuple(classic)
        asked = {part.name: self._asked_of_part(part, specs) for spec in specs for part in _parts(spec)}
        changed = {
            spec.name: self._classic(spec, asked.get(spec.name)) for spec in specs if isinstance(spec, AlarmSpec)
        }
        return tuple(
            changed[spec.name]
            if isinstance(spec, AlarmSpec)
            else replace(spec, severity=self._severity(spec), rule=_rebuilt(spec.rule, changed))
            for spec in self._kept(specs)
        )

    def applied_to_followed(
        self, followed: Iterable[ContributorSpec], classic: Iterable[AlarmSpec | CompositeSpec]
    ) -> tuple[ContributorSpec, ...]:
        """The set in PromQL: an alarm waits as much longer or shorter as the classic one of its key would."""
        lasts = {spec.key: lasting_minutes(spec) for spec in classic}
        return tuple(self._contributor(spec, lasts[spec.key]) for spec in followed if not self.of(spec.key).is_off)

    def _kept(self, specs: tuple[AlarmSpec | CompositeSpec, ...]) -> list[AlarmSpec | CompositeSpec]:
        on = [spec for spec in specs if not self.of(spec.key).is_off]
        read = {part.name for spec in on for part in _parts(spec)}
        of_composites = {part.name for spec in specs for part in _parts(spec)}
        silent = of_composites - read
        return [
            spec for spec in specs if spec.name in read or (spec in on and (spec.notifies or spec.name not in silent))
        ]

    def _severity(self, spec: AnySpec) -> Severity:
        asked = self.of(spec.key).severity
        if asked is not None:
            return asked
        return spec.severity if self.wakes else Severity.TICKET

    def _asked_of_part(self, part: AlarmSpec, specs: tuple[AlarmSpec | CompositeSpec, ...]) -> int | None:
        # What tells somebody has words of its own; the others are there for the composite alarm only.
        owners = [spec for spec in specs if isinstance(spec, CompositeSpec) and part in alarms_in(spec.rule)]
        return next((self.of(owner.key).minutes for owner in owners if not part.notifies), None)

    def _classic(self, spec: AlarmSpec, of_its_composite: int | None) -> AlarmSpec:
        said = self.of(spec.key)
        minutes = said.minutes or of_its_composite
        breaching, evaluated = spec.datapoints
        window = spec.datapoints if minutes is None else (minutes, minutes + evaluated - breaching)
        return replace(
            spec,
            severity=self._severity(spec),
            datapoints=window,
            notifies=spec.notifies and not said.is_off,
        )

    def _contributor(self, spec: ContributorSpec, classic_minutes: int) -> ContributorSpec:
        minutes = self.of(spec.key).minutes
        more = 0 if minutes is None else 60 * (minutes - classic_minutes)
        return replace(spec, severity=self._severity(spec), pending_seconds=max(0, spec.pending_seconds + more))


AS_THEY_ARE: Final = Adjustments()


def lasting_minutes(spec: AlarmSpec | CompositeSpec) -> int:
    """M of the M of N minutes; of a composite alarm that of its parts which tell nobody themselves."""
    if isinstance(spec, AlarmSpec):
        return spec.datapoints[0]
    return max((part.datapoints[0] for part in alarms_in(spec.rule) if not part.notifies), default=0)


def may_last(spec: AlarmSpec | CompositeSpec) -> bool:
    """Whether a number of minutes means something: an alarm on silence counts those that are missing, and AWS's events
    come once."""
    if isinstance(spec, CompositeSpec):
        return lasting_minutes(spec) > 0
    return spec.silence is not TreatMissingData.BREACHING


def _parts(spec: AlarmSpec | CompositeSpec) -> tuple[AlarmSpec, ...]:
    return alarms_in(spec.rule) if isinstance(spec, CompositeSpec) else ()


def _rebuilt(rule: Rule, changed: Mapping[str, AlarmSpec]) -> Rule:
    if isinstance(rule, InAlarm):
        return InAlarm(changed.get(rule.alarm.name, rule.alarm))
    if isinstance(rule, Not):
        return Not(_rebuilt(rule.rule, changed))
    return AllOf(tuple(_rebuilt(part, changed) for part in rule.rules))

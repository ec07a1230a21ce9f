"""What must hold of the changes that a fleet's owner makes to its alarms."""

from collections.abc import Iterator, Sequence

from environments.fleets import Fleet
from fleet.alarms import Severity, Spec
from fleet.alarms.adjustments import may_last
from fleet.diagnostics import Diagnostic, refuse, warn, with_known


def diagnose_alarm_changes(fleet: Fleet, alarms: Sequence[Spec]) -> Iterator[Diagnostic]:
    """Findings with paths relative to the fleet's entry; ``alarms`` are the fleet's as they are unchanged."""
    by_key = {spec.key: spec for spec in alarms if spec.notifies}
    for key, said in fleet.alarms.each.items():
        place = f"alarms.each.{key}"
        spec = by_key.get(key)
        if spec is None:
            yield refuse("alarm-unknown", place, key, f"the fleet has no alarm {key}", with_known(key, by_key))
        elif said.minutes is not None and not may_last(spec):
            fix = "leave minutes out"
            yield refuse(
                "alarm-cannot-last", f"{place}.minutes", said.minutes, f"{key} counts minutes without data itself", fix
            )
        elif said.is_off and spec.severity is Severity.PAGE:
            fix = f"say severity: ticket, and {key} waits for the morning"
            yield warn("alarm-off", f"{place}.severity", "none", f"nobody is told: {spec.summary}", fix)

"""Can data that are late keep an alarm as it is for ever: N of N where the newest minutes are never complete.

Sources: "Using metric math" of the CloudWatch User Guide (an alarm on FILL sticks where the metric is published with a
delay, and M of N is what helps); "Configuring how CloudWatch alarms treat missing data" (the evaluation range).
"""

from collections.abc import Iterator

from environments.alarm_linter.watched import Alarm, Watched
from fleet import metrics
from fleet.diagnostics import Diagnostic, refuse


def sticking(watched: Watched) -> Iterator[Diagnostic]:
    """Alarms of which every minute that they look at must breach, and some of those minutes can be untrue.

    What only moves nodes is not meant: it moves them where every minute says so, and waits where one does not.
    """
    read = {name for each in watched.composites for name in (*each.children, each.suppressor)}
    for alarm in watched.alarms:
        breaching, evaluated = alarm.datapoints
        if breaching < evaluated or not (alarm.notifies or alarm.name in read):
            continue
        why = _untrue_minutes(alarm)
        if why is not None:
            asked = f"{breaching} of {evaluated}"
            fix = f"ask for {breaching} of more minutes, as fleet.lateness does"
            yield refuse("alarm-sticks", alarm.name, asked, f"{asked} datapoints over {why}", fix)


def _untrue_minutes(alarm: Alarm) -> str | None:
    if any("FILL(" in expression for expression in alarm.expressions):
        return "FILL never breach while data come late: the newest minutes are always filled ones"
    if any(series.namespace == metrics.NAMESPACE for series in alarm.series):
        return "a fleet's nodes never breach while some send late: the newest minute is never whole"
    return None

"""What is wrong with alarms and dashboards before they are deployed: names, runbooks, quotas, money.

The same rules for an environment's alarms as data (``of_specs``, said by `fleet validate`) and for a template with its
dashboards (``of_template``, said at synthesis): what is deployed is what was judged.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from environments.alarm_linter.names import unknown_names
from environments.alarm_linter.of_specs import of_specs
from environments.alarm_linter.of_template import of_template
from environments.alarm_linter.quotas import costs, over_quotas, over_series_budget
from environments.alarm_linter.sticking import sticking
from environments.alarm_linter.watched import Alarm, Composite, Dashboard, Series, Watched, Widget
from fleet import metrics
from fleet.diagnostics import Diagnostic, refuse

__all__ = [
    "Alarm",
    "Around",
    "Composite",
    "Dashboard",
    "Series",
    "Watched",
    "Widget",
    "lint",
    "of_specs",
    "of_template",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the rules need to know besides: ``runbooks`` are the keys of alarms that have one."""

    environment: str
    fleets: tuple[str, ...]
    runbooks: frozenset[str]
    cloudwatch_usd_per_month: float | None = None


def lint(watched: Watched, around: Around) -> Iterator[Diagnostic]:
    """Every finding, errors and warnings with stable codes, and the alarms' price as a note."""
    yield from unknown_names(watched, around.environment, around.fleets)
    yield from _without_runbook(watched, around.runbooks)
    yield from sticking(watched)
    yield from over_quotas(watched)
    yield from over_series_budget(metrics.CATALOGUE)
    yield from costs(watched, around.cloudwatch_usd_per_month)


def _without_runbook(watched: Watched, runbooks: Collection[str]) -> Iterator[Diagnostic]:
    keys = {alarm.key: alarm.name for alarm in watched.every if alarm.notifies}
    for key, name in keys.items():
        if key not in runbooks:
            why = f"it tells people to read {key}.md, which does not exist"
            yield refuse("alarm-without-runbook", name, key, why, f"write docs/runbooks/{key}.md")

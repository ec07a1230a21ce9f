"""What is wrong with alarms and dashboards before they are deployed: names, runbooks, quotas, money.

The same rules for an environment's alarms as data (``of_specs``, said by `fleet validate`) and for a template with its
dashboards (``of_template``, said at synthesis): what is deployed is what was judged.
"""

from environments.alarm_linter.linting import Around, lint
from environments.alarm_linter.of_specs import of_specs
from environments.alarm_linter.of_template import of_template
from environments.alarm_linter.watched import Alarm, Composite, Dashboard, Series, Watched, Widget

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

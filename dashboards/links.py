"""Links on dashboards: to other dashboards, and to the runbooks of alarms."""

from collections.abc import Sequence

from dashboards.alarms import AlarmGroup
from dashboards.widgets import Shape, text
from fleet import naming


def to_dashboard(said: str, environment: str, audience: str) -> str:
    """Markdown: the console's own notation, without a Region and an account, which the local page follows too."""
    return f"[{said}](#dashboards:name={naming.dashboard_name(environment, audience)})"


def runbooks(url: str, alarms: Sequence[AlarmGroup], *, height: int) -> Shape:
    """Every alarm that tells somebody, and where it is written what to do."""
    keys = sorted({key for group in alarms for key in group.notifying_keys})
    return text("**Runbooks**: " + " · ".join(f"[{key}]({url}/{key}.md)" for key in keys), height=height)

"""What became of a test page, written down for the person who waits for it: `fleet page test`."""

from contextlib import suppress

from fleet.paging import report_key
from lambdas.pager.errors import IncidentStoreError
from lambdas.pager.model import AlarmChange
from lambdas.pager.page_text import is_test, milliseconds
from lambdas.pager.service import Incidents, Outcome


def report(change: AlarmChange, outcome: Outcome, incidents: Incidents) -> None:
    """Write it down, if it is a test; whoever waits notices that nothing was written."""
    if not is_test(change) or outcome.waits:
        return
    took = dict.fromkeys((*outcome.repeated, *outcome.sent), "")
    with suppress(IncidentStoreError):
        incidents.report(report_key(change.arn, milliseconds(change.changed_at)), took | dict(outcome.failed))

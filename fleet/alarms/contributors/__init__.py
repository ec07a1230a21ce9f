"""Alarms that follow each job and each node of a fleet, in PromQL, over the series that agents send by OTLP.

The classic set has one alarm for each fleet and kind, so a second fault is not told while the first one lasts. Here
every job and every node is a contributor with a state of its own. What only the capacity watch or AWS's own metrics
know stays classic.
"""

from fleet.alarms.contributors.burning import burning_alarms
from fleet.alarms.contributors.jobs import job_alarms
from fleet.alarms.contributors.nodes import node_alarms
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import ContributorSpec


def contributor_alarms(settings: AlarmSettings) -> tuple[ContributorSpec, ...]:
    """Every alarm of the fleet that follows jobs and nodes."""
    return (*node_alarms(settings), *job_alarms(settings), *burning_alarms(settings))

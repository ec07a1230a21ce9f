"""What an export is about: the rules of each fleet with nodes, and what a rule cannot know of its environment."""

from dataclasses import dataclass

from environments.alarms import adjustments, alarm_settings
from environments.fleets import Fleet
from environments.model import Environment
from fleet.alarms import ContributorSpec, contributor_alarms, fleet_alarms


@dataclass(frozen=True, slots=True)
class Followed:
    """One fleet's rules. ``owner`` is told of what is nobody's job."""

    environment: str
    fleet: str
    owner: str
    runbooks_url: str
    rules: tuple[ContributorSpec, ...]

    def labels(self, rule: ContributorSpec) -> dict[str, str]:
        """What to route by; a job's series say its owner themselves."""
        labels = {
            "environment": self.environment,
            "fleet": self.fleet,
            "severity": rule.severity.value,
            "area": rule.area.value,
        }
        return labels if "owner" in rule.contributor else {**labels, "owner": self.owner}

    def annotations(self, rule: ContributorSpec) -> dict[str, str]:
        """What to say to somebody who has just been woken."""
        return {
            "title": rule.title,
            "summary": rule.summary,
            "action": rule.action,
            "runbook_url": f"{self.runbooks_url}/{rule.runbook}",
        }


def followed(environment: Environment) -> tuple[Followed, ...]:
    """Every fleet of ``environment`` whose nodes run agents.

    Raises:
        UnknownInstanceTypeError: EC2 has no such type; ``loader.load_file`` refuses a file that names it.
    """
    return tuple(_followed(environment, fleet) for fleet in environment.node_fleets)


def _followed(environment: Environment, fleet: Fleet) -> Followed:
    settings = alarm_settings(environment, fleet)
    rules = adjustments(fleet).applied_to_followed(contributor_alarms(settings), fleet_alarms(settings))
    return Followed(environment.name, fleet.name, fleet.owner, environment.paging.runbooks_url, rules)

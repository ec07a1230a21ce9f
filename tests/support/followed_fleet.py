"""The series of a fleet, minute by minute, as its agents send them: all is well unless a test says otherwise."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from environments.alarm_export import Followed, rule_file
from fleet.alarms import AlarmSettings, contributor_alarms
from fleet.fleet_spec import MarketKind
from local.alarm_evaluation.promql import Labels, Vector, labels_of
from tests.support.promql_witness import Case

ENVIRONMENT, FLEET = "prod", "trn1"
DELAYS: Final = (0, 1, 2, 5)
_STATES: Final = ("BLIND", "COMPILING", "NO_JOB")
_NODE: Final[Mapping[str, float]] = {
    "node_cost_usd_per_hour": 21.5,
    "node_hbm_used_ratio": 0.7,
    "agent_spool_bytes": 0,
    "efa_fallback_to_tcp_per_minute": 0,
    "efa_retransmits_per_minute": 10,
    "efa_transmit_bytes_per_minute": 1e9,
}
_JOB: Final[Mapping[str, float]] = {
    "job_idle": 0,
    "job_hung": 0,
    "job_waiting": 0,
    "job_cost_usd_per_hour": 21.5,
    "job_wasted_usd_per_hour": 1.5,
    "job_running_tensor_engine_utilization_ratio": 0.38,
    "job_running_core_utilization_ratio": 0.95,
    "job_slowest_core_utilization_ratio": 0.93,
}
_RANGE: Final = re.compile(r"\[(?:(\d+)m)(\d+s)?\](?: offset (\d+)m)?")


@dataclass
class FleetSeries:
    """Jobs by name, each with its nodes, for so many minutes."""

    name: str
    jobs: Mapping[str, Sequence[str]]
    minutes: int
    _series: dict[Labels, list[float | str | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for job, nodes in self.jobs.items():
            for node in nodes:
                for state in _STATES:
                    self.say("node_state", 0, node=node, neuron_fleet_node_state=state)
                for name, value in _NODE.items():
                    self.say(name, value, node=node)
                for name, value in _JOB.items():
                    self.say(name, value, node=node, job=job, owner="anna")

    def say(self, name: str, value: float | None, since: int = 0, until: int | None = None, **labels: str) -> None:
        """What one series says from minute ``since`` to before ``until``; None is silence."""
        key = {"environment": ENVIRONMENT, "fleet": self.name, **labels}
        row = self._series.setdefault(labels_of({"__name__": f"neuron_fleet_{name}", **key}), [None] * self.minutes)
        last = self.minutes if until is None else until
        row[since:last] = [value] * (last - since)

    def job(self, job: str, since: int = 0, until: int | None = None, **said: float | None) -> None:
        """What a job's series say on each of its nodes."""
        for node in self.jobs[job]:
            for name, value in said.items():
                self.say(f"job_{name}", value, since, until, node=node, job=job, owner="anna")

    def state(self, node: str, state: str, since: int = 0, until: int | None = None) -> None:
        """What the node does in these minutes."""
        self.say("node_state", 1, since, until, node=node, neuron_fleet_node_state=state)

    def silence(self, minutes: Iterable[int], nodes: Iterable[str] | None = None) -> None:
        """These minutes are lost, of some nodes or of all."""
        lost, whose = list(minutes), None if nodes is None else set(nodes)
        for labels, row in self._series.items():
            if whose is None or dict(labels)["node"] in whose:
                for minute in lost:
                    row[minute] = None

    def end(self, job: str, at: int) -> None:
        """The job is over: its nodes say that they have none."""
        self.job(job, since=at, **dict.fromkeys((name.removeprefix("job_") for name in _JOB), None))
        for node in self.jobs[job]:
            self.state(node, "NO_JOB", since=at)

    @property
    def series(self) -> Mapping[Labels, Sequence[float | str | None]]:
        """All of it, in the notation of promtool."""
        return self._series


def case(fleets: Sequence[FleetSeries]) -> Case:
    """The question when each alarm of each fleet first fired, and when it did last."""
    minutes = fleets[0].minutes
    firing = f'timestamp(ALERTS{{alertstate="firing"}})[{minutes}m:1m]'
    at = 60 * (minutes - 1)
    series = {labels: row for fleet in fleets for labels, row in fleet.series.items()}
    return Case(series, [(f"min_over_time({firing})", at), (f"max_over_time({firing})", at)])


def rules(settings: AlarmSettings) -> dict[str, Any]:
    """The rule file as it is exported, of every fleet at once, and once for each delay that data may have."""
    fleet = Followed(settings.environment, settings.fleet, "ben", "https://runbooks", contributor_alarms(settings))
    (group,) = rule_file([fleet])["groups"]
    return {"groups": [_delayed(group, delay) for delay in DELAYS]}


def settings(**changed: Any) -> AlarmSettings:
    """A fleet on EFA that trains."""
    market = MarketKind.ON_DEMAND
    said = {"environment": ENVIRONMENT, "fleet": FLEET, "purpose": "training", "market": market, "nodes": 8}
    return AlarmSettings(**{**said, "has_efa": True, **changed})


def told(answer: Vector | str, fleet: str, delay: int) -> dict[tuple[str, ...], int]:
    """Alarm and contributor, and the minute of the answer, of data that are seen ``delay`` minutes late."""
    assert not isinstance(answer, str), answer
    found = {}
    for labels, seconds in answer.items():
        values = dict(labels)
        if (values["fleet"], values["delay"]) == (fleet, str(delay)):
            who = [values[name] for name in ("job", "node") if name in values]
            found[values["alertname"], *who] = int(seconds // 60)
    return found


def _delayed(group: Mapping[str, Any], delay: int) -> dict[str, Any]:
    """The rules as they see data that become visible so many minutes late: what is newer is not there yet."""
    changed = [{**rule, "expr": _seen(rule["expr"], delay), "labels": {"delay": str(delay)}} for rule in group["rules"]]
    return {"name": f"late-{delay}", "interval": "1m", "rules": changed}


def _seen(expression: str, delay: int) -> str:
    of_every_fleet = expression.replace(f'environment="{ENVIRONMENT}",fleet="{FLEET}"', "")
    return _RANGE.sub(lambda found: _later(found, delay), of_every_fleet.replace("{,", "{"))


def _later(found: re.Match[str], delay: int) -> str:
    minutes, seconds, offset = int(found[1]), found[2] or "", int(found[3] or 0)
    # What was asked with an offset has long been seen.
    cut = max(0, delay - offset)
    return f"[{minutes - cut}m{seconds}]" + (f" offset {offset + cut}m" if offset + cut else "")

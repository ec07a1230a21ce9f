"""What watching costs: metrics by tier, the nodes' log events, requests, alarms, dashboards, queries.

Metrics and node events together are what the platform's design holds to a budget: 128 nodes in 8 jobs at most $60 a
month, 2,000 nodes in 125 jobs at most $720 (``watching_usd``). The agent's PutMetricData requests, one a node and
minute, come on top and are shown.
"""

from dataclasses import dataclass
from typing import Final

from fleet.fleet_spec import Purpose
from planning.month.capacity import running_hours
from planning.month.line import NOTHING, Group, Line, Spread, priced_line
from planning.month.prices import GB, HOURS, MINUTES, metric_price, metrics_usd, service_price
from planning.month.shape import EnvironmentShape, FleetShape, Use

# Series that agents publish: of every job by themselves, and 2 to 4 more where its workload reports tokens and loss.
SERIES_OF_A_JOB: Final = Spread(12, 14, 16)
# 36 of every fleet, compilation's 5 among them, 4 of EFA, 4 of fleets that train or of endpoints alone, 5 to 10 of the
# capacity watch.
SERIES_OF_A_FLEET: Final = Spread(39, 44, 54)
SERIES_OF_EFA: Final = 4
# Measured: 3,277 bytes for 32 cores without host, driver and EFA figures, 5,200 with them; 8,579 for 128 cores.
EVENT_BYTES: Final = Spread(1_520, 3_440, 5_160)
EVENT_BYTES_OF_A_CORE: Final = 55
NODES_OF_A_JOB: Final = 16
# Measured on the agent's requests, a node of one job; docs/prometheus.md has the table. What rules read is 9 points of
# a node without a job and 8 more of each job; with all cores it is 274 for 32 cores, 670 for 128, and the driver's and
# the host's figures add 52.
OTLP_POINTS: Final = {
    "rules": (Spread(9, 18, 26), 0.0),
    "nodes": (Spread(34, 54, 66), 0.0),
    "cores": (Spread(139, 193, 193), 400 / 96),
}
OTLP_BYTES_OF_A_POINT: Final = 137
# Dashboards that somebody looks at: loads a month, and some 150 metrics in one.
DASHBOARD_READS: Final = Spread(3_000, 30_000, 600_000)
FREE_DASHBOARDS: Final = 3
# Of the minutes of a training fleet, those in which the watch looks at each of its jobs: cores of it are far apart. In
# none where one job has it, in all where two jobs differ as much.
SEARCHED_MINUTES: Final = Spread(0, 0.1, 1)
# Pages and people query the events of hours, not of months.
SCANS_OF_A_MONTHS_EVENTS: Final = Spread(0, 1, 20)
FUNCTION_LOG_GB: Final = Spread(0.05, 0.2, 2)
FLOW_LOG_GB_OF_A_NODE: Final = Spread(0.1, 1, 10)
JOB_LOG_GB_OF_A_NODE: Final = Spread(0.1, 1, 20)


@dataclass(frozen=True, slots=True)
class Watching:
    """What is measured, all month long: the design's own formula works on these."""

    nodes: int
    jobs: float
    series_of_a_job: float
    series_of_fleets: float
    event_bytes: float


def watching_usd(watching: Watching) -> float:
    """USD a month for metrics by tier and for the nodes' log events, one a node and minute at $0.50 a GB.

    Source: CloudWatch prices, and the recommended design's formula: tier(14 J + 28) + N x bytes x 43,800 x $0.5/GB.
    """
    series = watching.jobs * watching.series_of_a_job + watching.series_of_fleets
    gigabytes = watching.nodes * watching.event_bytes * MINUTES / GB
    return metrics_usd(series) + gigabytes * service_price("logs-ingest-gb").usd


def event_bytes(logical_cores: int) -> Spread:
    """Bytes of a node's log event of one minute."""
    return EVENT_BYTES + Spread.certain(EVENT_BYTES_OF_A_CORE * logical_cores)


def node_gigabytes(fleet: FleetShape, hours: Spread) -> Spread:
    """GB of log events that the fleet's nodes send in ``hours`` of a month each."""
    size = event_bytes(fleet.logical_cores)
    return size.times(hours) * (60 * fleet.nodes / GB)


def series(fleet: FleetShape, use: Use) -> Spread:
    """Metric-months of the fleet and of its jobs; a metric is paid for by the hour that it has data in."""
    share = running_hours(fleet, use) * (1 / HOURS)
    jobs = jobs_at_once(fleet.purpose, fleet.nodes)
    of_fleet = SERIES_OF_A_FLEET + Spread.certain(SERIES_OF_EFA if fleet.has_efa else 0)
    return (SERIES_OF_A_JOB.times(jobs) + of_fleet).times(share)


def jobs_at_once(purpose: Purpose, nodes: int) -> Spread:
    """Jobs of a fleet. An endpoint's tasks, one on each node, are jobs of their own."""
    if purpose is Purpose.INFERENCE:
        return Spread.certain(nodes)
    usual = max(1, nodes // NODES_OF_A_JOB)
    return Spread(1, usual, max(usual, nodes // 4))


def _watch_reads(fleet: FleetShape, use: Use) -> Spread:
    """Metrics that the capacity watch reads in a month: at every look, while there are nodes, the fleet's heartbeats;
    where it trains, both ends of its cores' utilization, and where they are far apart, two figures of each job."""
    looks = running_hours(fleet, use) * 60
    if fleet.purpose is Purpose.INFERENCE:
        return looks
    jobs = jobs_at_once(fleet.purpose, fleet.nodes).times(SEARCHED_MINUTES) * 2
    return looks.times(Spread.certain(3) + jobs)


def cloudwatch_lines(environment: EnvironmentShape, use: Use) -> list[Line]:
    """Every line of CloudWatch. The free tier is not taken off, but for the dashboards' in the low figure."""
    fleets = environment.fleets
    metrics = sum((series(fleet, use) for fleet in fleets), NOTHING)
    events = sum((node_gigabytes(fleet, running_hours(fleet, use)) for fleet in fleets), NOTHING)
    minutes = sum((running_hours(fleet, use) * (60 * fleet.nodes) for fleet in fleets), NOTHING)
    tier = metric_price()
    lines = [
        Line(
            Group.CLOUDWATCH,
            "metrics, by fleet and job",
            metrics,
            tier.unit,
            tier.usd,
            metrics.of_each(metrics_usd),
            tier.label,
            "12, 14, 16 of each job and up to 55 of each fleet, in the hours that they have data",
        ),
        _line("node events, ingested", events, "logs-ingest-gb", "one a node and minute, by its number of cores"),
        _line("PutMetricData", minutes, "cloudwatch-request", "one a node and minute"),
        *_log_lines(environment, events),
        _line(
            "metric alarms",
            Spread.certain(environment.alarm_metrics),
            "alarm-metric-month",
            "each metric that an alarm looks at",
        ),
        _line("composite alarms", Spread.certain(environment.composite_alarms), "composite-alarm-month", "one a fleet"),
        _line(
            "dashboards",
            Spread(max(0, environment.dashboards - FREE_DASHBOARDS), environment.dashboards, environment.dashboards),
            "dashboard-month",
            f"{environment.dashboards}; an account's first {FREE_DASHBOARDS} are free, if no others took them",
        ),
        _line(
            "GetMetricData",
            DASHBOARD_READS + sum((_watch_reads(fleet, use) for fleet in fleets), NOTHING),
            "cloudwatch-read",
            "dashboards that people look at, pages, and each fleet's agents and cores once a minute",
        ),
    ]
    if environment.otlp is not None:
        lines.append(_otlp_line(environment, environment.otlp, use))
    return lines


def _log_lines(environment: EnvironmentShape, events: Spread) -> list[Line]:
    nodes, months = environment.nodes, environment.log_retention_days / 30
    rest = JOB_LOG_GB_OF_A_NODE * nodes + FUNCTION_LOG_GB
    flows = FLOW_LOG_GB_OF_A_NODE * nodes
    kept = (events + rest + flows) * months
    scanned = events.times(SCANS_OF_A_MONTHS_EVENTS)
    retention = f"all of them for {environment.log_retention_days} days, not compressed"
    return [
        _line("jobs' and functions' logs, ingested", rest, "logs-ingest-gb", "0.1, 1, 20 GB a node"),
        _line("flow logs, ingested", flows, "vended-logs-gb", "0.1, 1, 10 GB a node"),
        _line("logs, kept", kept, "logs-gb-month", retention),
        _line("log queries", scanned, "logs-scanned-gb", "0, 1, 20 times a month's node events"),
    ]


def _otlp_line(environment: EnvironmentShape, level: str, use: Use) -> Line:
    of_node, of_core = OTLP_POINTS[level]
    sent = NOTHING
    for fleet in environment.fleets:
        points = of_node + Spread.certain(of_core * fleet.logical_cores)
        hours = running_hours(fleet, use)
        sent += points.times(hours) * (60 * fleet.nodes * OTLP_BYTES_OF_A_POINT / GB)
    cores = f"{of_core:.0f} points a core and " if of_core else ""
    because = f"{cores}{of_node.low:g} to {of_node.high:g} a node, each minute, of {OTLP_BYTES_OF_A_POINT} bytes"
    return _line(f"series over OTLP: {level}", sent, "otlp-gb", because)


def _line(what: str, quantity: Spread, price: str, because: str) -> Line:
    return priced_line(Group.CLOUDWATCH, what, quantity, price, because)

"""Alarms that follow each job, over all of its nodes: is it worth its dollars, does it get on."""

from typing import Final

from fleet.alarms import health, utilization
from fleet.alarms.contributors.expressions import QUARTER, Series
from fleet.alarms.idle import SMALLEST_FLOOR, TICKET_MINUTES, floor_of, idle_alarms
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import CompositeSpec, ContributorSpec
from fleet.idleness import IDLE_PERCENT
from fleet.node_state import NodeState
from fleet.stragglers import STRAGGLER_POINTS

JOB: Final = ("fleet", "job", "owner")
_ONE_OF_JOB: Final = "max by (fleet, job, owner)"
_TEN: Final = "10m30s"
# By then what is late has come.
_SETTLED: Final = "5m"


def job_alarms(settings: AlarmSettings) -> tuple[ContributorSpec, ...]:
    """Those that the fleet's jobs can make true."""
    always = (*_idle(settings), _low_utilization(settings))
    if settings.purpose == "inference":
        return always
    return (*always, _job_hang(settings), _non_finite_loss(settings), _straggler(settings))


def _idle(settings: AlarmSettings) -> tuple[ContributorSpec, ...]:
    """The page and, below its floor, the ticket; of an endpoint one ticket."""
    classic = {spec.key: spec for spec in idle_alarms(settings)}
    floor = SMALLEST_FLOOR if settings.purpose == "inference" else floor_of(settings)
    series = Series.of(settings)
    burnt = f"sum by (fleet, job, owner) ({_burnt(series, floor)})"
    page = ContributorSpec.in_place_of(
        classic["IdleAllocated"],
        expression=f"{burnt} >= {floor:g}",
        contributor=JOB,
        pending_minutes=3,
        recovery_minutes=15,
        reason="The node has counted minutes of rest already; three more are for a peer that compiles to be seen. A "
        "job that flaps within a quarter of an hour is one incident.",
    )
    if "IdleBelowFloor" not in classic:
        return (page,)
    ticket = ContributorSpec.in_place_of(
        classic["IdleBelowFloor"],
        expression=f"{burnt} < {floor:g} or {_hung(series)} and on (fleet, job) {_is_cheap(settings)}",
        contributor=JOB,
        pending_minutes=TICKET_MINUTES,
        recovery_minutes=15,
        reason="A person thinks, and has lunch, while a notebook holds its cores.",
    )
    return page, ticket


def _burnt(series: Series, unpriced: float) -> str:
    """Dollars an hour of each node for each job that rests on it; where no price is known a node is not cheap."""
    resting = f"{series.last('job_idle')} == 1 or {series.last('job_waiting')} == 1"
    # While a node of the job compiles its others wait for it.
    awake = f"({resting}) unless on (fleet, job) ({_compiling(series)})"
    rests = f"{awake} unless on (fleet, node) {series.without_a_job()}"
    priced = f"{series.last('job_cost_usd_per_hour')} and on (fleet, node, job) ({rests})"
    return f"({priced}) or on (fleet, node, job) {unpriced:g} * ({rests})"


def _compiling(series: Series) -> str:
    """Jobs of which a node compiles, or did lately: its others wait for it, and load what it has compiled."""
    return f"{series.last('job_waiting')} and on (fleet, node) {series.was_lately(NodeState.COMPILING, QUARTER)} == 1"


def _hung(series: Series) -> str:
    """Jobs that hang: those that wait in a collective for what a node of theirs compiles look the same."""
    hung = f"{series.last('job_hung')} == 1 unless on (fleet, job) ({_compiling(series)})"
    return f"{_ONE_OF_JOB} ({hung} unless on (fleet, node) {series.without_a_job()})"


def _is_cheap(settings: AlarmSettings) -> str:
    """Jobs whose nodes cost less an hour than somebody is woken for; one of which no price is known is not."""
    return f"sum by (fleet, job) ({Series.of(settings).last('job_cost_usd_per_hour')}) < {floor_of(settings):g}"


def _low_utilization(settings: AlarmSettings) -> ContributorSpec:
    series, serves = Series.of(settings), settings.purpose == "inference"
    window = "45m30s" if serves else QUARTER
    name, bar = _useful(settings)
    # An endpoint's traffic comes and goes, and its mean says more.
    looks = (series.mean(name, window),) if serves else _lasting_lows(series, name)
    low = " or ".join(f"avg by (fleet, job, owner) ({useful}) < {bar:g}" for useful in looks)
    waste = f"sum by (fleet, job) ({series.mean('job_wasted_usd_per_hour', window)})"
    idle = f"avg by (fleet, job) ({series.mean('job_running_core_utilization_ratio', window)}) < {IDLE_PERCENT / 100:g}"
    faulty = f"{series.last('job_wasted_usd_per_hour')} and on (fleet, node) {series.was_lately(NodeState.FAULT)} == 1"
    return ContributorSpec.in_place_of(
        _classic_low_utilization(settings),
        expression=f"({low}) and on (fleet, job) {waste} > {settings.thresholds.wasted_usd_per_node_hour:g} "
        # A fault and an idle job are their own pages, with other things to do.
        f"unless on (fleet, job) {idle} unless on (fleet, job) ({faulty})",
        contributor=JOB,
        pending_minutes=36 if serves else 0,
        recovery_minutes=15,
        reason="What is looked at has lasted: an evaluation of eleven minutes is not told, and a job that starves for "
        "four minutes in eight is.",
    )


def _useful(settings: AlarmSettings) -> tuple[str, float]:
    """The series of useful work, and the share of its peak below which it is low."""
    thresholds = settings.thresholds
    if settings.reports_flops:
        return "job_running_tensor_engine_utilization_ratio", thresholds.low_utilization_percent / 100
    return "job_running_core_utilization_ratio", thresholds.low_core_utilization_percent / 100


def _lasting_lows(series: Series, name: str) -> tuple[str, str]:
    """What a job does in twelve minutes of thirteen, late ones included, and in fourteen of thirty.

    A loader that fills its buffer in turns starves the cores in half of the minutes. A job that has begun just now has
    too few of them.
    """
    return (
        f"({series.below_share(0.9, name, '13m30s', _SETTLED)} and {series.count(name, '13m30s', _SETTLED)} >= 9)",
        f"({series.below_share(0.45, name, '30m30s')} and {series.count(name, '30m30s')} >= 22)",
    )


def _classic_low_utilization(settings: AlarmSettings) -> CompositeSpec:
    below, waste = utilization.low_utilization_parts(settings)
    fault, idle = health.hardware_fault(settings), idle_alarms(settings)[0]
    return utilization.low_utilization(settings, below=below, waste=waste, fault=fault, idle=idle)


def _job_hang(settings: AlarmSettings) -> ContributorSpec:
    return ContributorSpec.in_place_of(
        utilization.job_hang(settings),
        expression=f"{_hung(Series.of(settings))} unless on (fleet, job) {_is_cheap(settings)}",
        contributor=JOB,
        pending_minutes=0,
        recovery_minutes=10,
        reason="The node has counted ten minutes already; the nodes of a job notice one after the other.",
    )


def _non_finite_loss(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    return ContributorSpec.in_place_of(
        utilization.non_finite_loss(settings),
        expression=f"{_ONE_OF_JOB} ({series.most('job_non_finite_loss_per_minute', QUARTER)}) >= 1 "
        f"unless on (fleet, job) {_is_cheap(settings)}",
        contributor=JOB,
        pending_minutes=0,
        recovery_minutes=0,
        reason="A loss does not come back; all that follow within a quarter of an hour are one page.",
    )


def _straggler(settings: AlarmSettings) -> ContributorSpec:
    series = Series.of(settings)
    slowest = f"min by (fleet, job, node, owner) ({series.mean('job_slowest_core_utilization_ratio', _TEN)})"
    mean = f"avg by (fleet, job) ({series.mean('job_running_core_utilization_ratio', _TEN)})"
    # A job that idles or starves is far behind the others too, and is another alarm's, with another thing to do.
    name, bar = _useful(settings)
    low = f"avg by (fleet, job) ({series.mean(name, _TEN)}) < {bar:g}"
    idle = f"{mean} < {IDLE_PERCENT / 100:g} or " if settings.reports_flops else ""
    # One that compiles is behind those that it compiles for.
    excused = f"({idle}{low} or {_compiling(series)})"
    return ContributorSpec.in_place_of(
        utilization.straggler(settings),
        expression=f"{slowest} < on (fleet, job) group_left () {mean} - {STRAGGLER_POINTS / 100:g} "
        f"unless on (fleet, job) {excused}",
        contributor=("fleet", "job", "node", "owner"),
        pending_minutes=4,
        recovery_minutes=10,
        reason="A mean of ten minutes that stays low for four: the slowest core of one minute is often another's.",
    )

"""Alarms that follow each job and node: Prometheus says what each tells, of data that come 0 to 5 minutes late."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from tests.support.followed_fleet import DELAYS, FleetSeries, case, rules, settings, told
from tests.support.needs import needs
from tests.support.promql_witness import answers

pytestmark = needs("promtool")
Told = Mapping[tuple[str, ...], int]
JOBS = {"a": ("n1", "n2"), "b": ("n3",)}
SHORT = 45


@dataclass(frozen=True)
class Incident:
    """What happens to a healthy fleet, and the minute in which each contributor is told of where data are on time."""

    happens: Callable[[FleetSeries], None]
    told: Told
    minutes: int = SHORT
    over: Told | None = None


INCIDENTS: dict[str, Incident] = {}


def incident(told: Told, *, minutes: int = SHORT, over: Told | None = None) -> Callable[..., Callable[..., None]]:
    """A case; its name is the function's."""

    def keep(happens: Callable[[FleetSeries], None]) -> Callable[[FleetSeries], None]:
        INCIDENTS[happens.__name__] = Incident(happens, told, minutes, over)
        return happens

    return keep


@incident({})
def nothing_happens(fleet: FleetSeries) -> None:
    pass


@incident({})
def minutes_that_are_lost(fleet: FleetSeries) -> None:
    fleet.silence([20, 21, 22])
    fleet.silence([30, 32, 34], ["n1"])
    fleet.silence([31, 33, 35], ["n2"])


@incident({("IdleAllocated", "a"): 23, ("JobHang", "b"): 20, ("HardwareFault", "n2"): 20})
def incidents_of_which_minutes_are_lost(fleet: FleetSeries) -> None:
    idle(fleet, "a", 20)
    fleet.job("b", 20, hung=1)
    fleet.state("n2", "FAULT", 20)
    fleet.silence([22, 25, 26, 27, 30], ["n1"])
    fleet.silence([23, 24, 28], ["n2"])
    fleet.silence([21, 22, 29, 30], ["n3"])


@incident({("HardwareFault", "n1"): 20}, over={("HardwareFault", "n1"): 39})
def one_minute_of_a_fault(fleet: FleetSeries) -> None:
    fleet.state("n1", "FAULT", 20, 21)


@incident({("HardwareFault", "n1"): 20, ("NodeBlind", "n1"): 25, ("FleetBlind",): 25})
def a_blind_node_whose_kernel_reports_an_error(fleet: FleetSeries) -> None:
    fleet.state("n1", "BLIND", 20)
    fleet.say("node_hardware_errors_per_minute", 3, 20, 21, node="n1")


@incident({("HardwareFault", "n1"): 20, ("HardwareFault", "n3"): 20})
def two_faults_at_once(fleet: FleetSeries) -> None:
    fleet.state("n1", "FAULT", 20)
    fleet.state("n3", "FAULT", 20)


@incident({("NonFiniteLoss", "a"): 10, ("NonFiniteLoss", "b"): 70}, minutes=90)
def a_second_loss_an_hour_into_the_first(fleet: FleetSeries) -> None:
    fleet.job("a", 10, non_finite_loss_per_minute=60)
    fleet.job("b", 70, non_finite_loss_per_minute=60)


@incident({("HardwareFault", "n1"): 5, ("HardwareFault", "n3"): 65}, minutes=90)
def a_second_fault_an_hour_into_the_first(fleet: FleetSeries) -> None:
    fleet.state("n1", "FAULT", 5)
    fleet.state("n3", "FAULT", 65)


@incident({("NodeBlind", "n1"): 25, ("FleetBlind",): 25}, over={("NodeBlind", "n1"): 34, ("FleetBlind",): 34})
def a_blind_node(fleet: FleetSeries) -> None:
    fleet.state("n1", "BLIND", 20, 30)


@incident({})
def a_monitor_that_is_restarted(fleet: FleetSeries) -> None:
    fleet.state("n1", "BLIND", 20, 22)


@incident({("AgentSilent", "n2"): 40}, minutes=130)
def an_agent_that_stops(fleet: FleetSeries) -> None:
    fleet.silence(range(21, 130), ["n2"])


@incident({}, minutes=90)
def a_node_that_is_drained_and_ends(fleet: FleetSeries) -> None:
    fleet.state("n2", "DRAINING", 15, 21)
    fleet.silence(range(21, 90), ["n2"])


@incident({}, minutes=90)
def a_fleet_that_is_silent_as_a_whole(fleet: FleetSeries) -> None:
    fleet.silence(range(21, 90))


@incident({("HbmPressure", "n3"): 39})
def memory_that_stays_full(fleet: FleetSeries) -> None:
    fleet.say("node_hbm_used_ratio", 0.97, 20, node="n3")


@incident({})
def memory_that_is_full_while_a_model_loads(fleet: FleetSeries) -> None:
    fleet.say("node_hbm_used_ratio", 0.97, 20, 28, node="n3")


@incident({("SpoolGrowing", "n1"): 30})
def a_spool_that_grows(fleet: FleetSeries) -> None:
    fleet.say("agent_spool_bytes", 2e6, 20, node="n1")


@incident({})
def a_spool_of_a_hiccup(fleet: FleetSeries) -> None:
    fleet.say("agent_spool_bytes", 2e5, 20, node="n1")


@incident({("EfaDegraded", "n1"): 30, ("EfaDegraded", "n3"): 29})
def efa_that_is_passed_by_and_repeats_much(fleet: FleetSeries) -> None:
    fleet.say("efa_fallback_to_tcp_per_minute", 1, 20, node="n1")
    fleet.say("efa_retransmits_per_minute", 50_000, 20, node="n3")


@incident({})
def a_burst_of_retransmissions(fleet: FleetSeries) -> None:
    fleet.say("efa_retransmits_per_minute", 50_000, 20, 22, node="n3")


@incident({("CompileTooLong", "n1"): 110}, minutes=130)
def a_compilation_that_does_not_end(fleet: FleetSeries) -> None:
    fleet.state("n1", "COMPILING", 20)


@incident({}, minutes=130)
def a_long_compilation_that_ends(fleet: FleetSeries) -> None:
    fleet.state("n1", "COMPILING", 20, 100)


@incident({("CompileFailing", "n1"): 20, ("CompileFailing", "n3"): 22}, over={("CompileFailing", "n1"): 35})
def graphs_that_are_refused(fleet: FleetSeries) -> None:
    fleet.say("node_compile_failures_per_minute", 1, 20, 21, node="n1")
    fleet.say("node_compile_failures_per_minute", 2, 22, 23, node="n3")


def idle(fleet: FleetSeries, job: str, since: int, until: int | None = None) -> None:
    fleet.job(job, since, until, idle=1, wasted_usd_per_hour=21.5, running_core_utilization_ratio=0.01)
    fleet.job(job, since, until, slowest_core_utilization_ratio=0, running_tensor_engine_utilization_ratio=None)


@incident({("IdleAllocated", "a"): 23, ("IdleAllocated", "b"): 23})
def two_jobs_that_idle_at_once(fleet: FleetSeries) -> None:
    idle(fleet, "a", 20)
    idle(fleet, "b", 20)


@incident({("IdleAllocated", "a"): 13, ("IdleAllocated", "b"): 73}, minutes=90)
def a_second_job_that_idles_an_hour_into_the_first(fleet: FleetSeries) -> None:
    idle(fleet, "a", 10)
    idle(fleet, "b", 70)


@incident({("IdleBelowFloor", "a"): 55}, minutes=90)
def an_idle_notebook_for_a_dollar_an_hour(fleet: FleetSeries) -> None:
    fleet.job("a", cost_usd_per_hour=0.67)
    idle(fleet, "a", 10)


@incident({("IdleBelowFloor", "a"): 55}, minutes=90)
def a_cheap_job_that_hangs(fleet: FleetSeries) -> None:
    fleet.job("a", cost_usd_per_hour=0.67)
    fleet.job("a", 10, hung=1)


@incident({})
def a_notebook_while_its_owner_has_lunch(fleet: FleetSeries) -> None:
    fleet.job("a", cost_usd_per_hour=0.67)
    idle(fleet, "a", 5, 40)


@incident({("IdleAllocated", "a"): 23})
def a_job_that_idles_and_has_no_price(fleet: FleetSeries) -> None:
    fleet.job("a", cost_usd_per_hour=None, wasted_usd_per_hour=None)
    fleet.job("a", 20, idle=1)


@incident({("JobHang", "a"): 20, ("NonFiniteLoss", "b"): 20})
def jobs_that_hang_and_are_lost_and_have_no_price(fleet: FleetSeries) -> None:
    for job in JOBS:
        fleet.job(job, cost_usd_per_hour=None, wasted_usd_per_hour=None)
    fleet.job("a", 20, hung=1)
    fleet.job("b", 20, non_finite_loss_per_minute=60)


@incident({("IdleAllocated", "a"): 23})
def a_job_that_never_begins(fleet: FleetSeries) -> None:
    fleet.job("a", 20, waiting=1, wasted_usd_per_hour=21.5, running_tensor_engine_utilization_ratio=None)


@incident({})
def a_node_that_waits_while_its_peer_compiles(fleet: FleetSeries) -> None:
    fleet.state("n1", "COMPILING", 5)
    fleet.say("job_waiting", 1, 20, node="n2", job="a", owner="anna")
    fleet.job("a", running_tensor_engine_utilization_ratio=None, wasted_usd_per_hour=None)
    fleet.say("job_wasted_usd_per_hour", 21.5, 20, node="n2", job="a", owner="anna")


@incident({})
def a_node_that_has_run_and_rests_while_its_peer_compiles_anew(fleet: FleetSeries) -> None:
    fleet.state("n1", "COMPILING", 20, 40)
    fleet.say("job_idle", 1, 22, 44, node="n2", job="a", owner="anna")


@incident({("JobHang", "b"): 30})
def a_node_that_spins_while_its_peer_compiles_anew_and_another_job_that_hangs(fleet: FleetSeries) -> None:
    fleet.state("n1", "COMPILING", 20, 40)
    fleet.say("job_hung", 1, 30, 44, node="n2", job="a", owner="anna")
    fleet.job("b", 30, hung=1)


@incident({("IdleAllocated", "b"): 23})
def another_job_that_idles_meanwhile(fleet: FleetSeries) -> None:
    fleet.state("n1", "COMPILING", 20, 40)
    idle(fleet, "b", 20)


@incident({})
def a_job_that_idles_for_two_minutes_and_ends(fleet: FleetSeries) -> None:
    idle(fleet, "a", 20, 22)
    fleet.end("a", 22)


@incident({})
def a_pause_between_two_epochs(fleet: FleetSeries) -> None:
    idle(fleet, "a", 20, 22)


def starve(fleet: FleetSeries, job: str, since: int, until: int | None = None, useful: float = 0.05) -> None:
    fleet.job(job, since, until, running_tensor_engine_utilization_ratio=useful, wasted_usd_per_hour=18.8)


@incident({("LowUtilization", "a"): 34, ("LowUtilization", "b"): 34})
def two_jobs_that_starve_at_once(fleet: FleetSeries) -> None:
    starve(fleet, "a", 20)
    starve(fleet, "b", 20)


@incident({("LowUtilization", "a"): 21, ("LowUtilization", "b"): 84}, minutes=130)
def a_second_job_that_starves_an_hour_into_the_first(fleet: FleetSeries) -> None:
    starve(fleet, "a", 10)
    starve(fleet, "b", 70)


@incident({("LowUtilization", "a"): 21}, minutes=90)
def a_job_that_starves_by_turns(fleet: FleetSeries) -> None:
    for since in range(0, 88, 8):
        starve(fleet, "a", since, since + 4, useful=0.02)
        fleet.job("a", since + 4, since + 8, running_tensor_engine_utilization_ratio=0.3)


@incident({})
def an_evaluation_of_eleven_minutes(fleet: FleetSeries) -> None:
    starve(fleet, "a", 20, 31)


@incident({("HardwareFault", "n1"): 20})
def a_job_that_is_slow_for_a_fault(fleet: FleetSeries) -> None:
    fleet.state("n1", "FAULT", 20)
    starve(fleet, "a", 20)


@incident({("JobHang", "a"): 20, ("JobHang", "b"): 20})
def two_jobs_that_hang_at_once(fleet: FleetSeries) -> None:
    fleet.job("a", 20, hung=1)
    fleet.job("b", 20, hung=1)


@incident({("JobHang", "a"): 10, ("JobHang", "b"): 70}, minutes=90)
def a_second_hang_an_hour_into_the_first(fleet: FleetSeries) -> None:
    fleet.say("job_hung", 1, 10, node="n1", job="a", owner="anna")
    fleet.say("job_hung", 1, 70, node="n3", job="b", owner="anna")


@incident({("JobHang", "a"): 20}, over={("JobHang", "a"): 34})
def a_hang_that_is_killed(fleet: FleetSeries) -> None:
    fleet.job("a", 20, hung=1)
    fleet.end("a", 25)


@incident({("NonFiniteLoss", "a"): 20, ("NonFiniteLoss", "b"): 20})
def two_losses_that_are_no_numbers(fleet: FleetSeries) -> None:
    fleet.job("a", 20, non_finite_loss_per_minute=60)
    fleet.job("b", 20, 21, non_finite_loss_per_minute=1)


@incident({})
def a_loss_of_an_experiment_for_a_dollar_an_hour(fleet: FleetSeries) -> None:
    fleet.job("b", cost_usd_per_hour=1.34)
    fleet.job("b", 20, non_finite_loss_per_minute=60)


@incident({("Straggler", "a", "n2"): 28})
def one_core_that_is_slower_than_the_others(fleet: FleetSeries) -> None:
    fleet.say("job_slowest_core_utilization_ratio", 0.5, 20, node="n2", job="a", owner="anna")


@incident({})
def two_jobs_of_different_speed(fleet: FleetSeries) -> None:
    fleet.job("a", running_core_utilization_ratio=0.6, slowest_core_utilization_ratio=0.58)


@incident({("NodesWithoutJob",): 53}, minutes=90, over={("NodesWithoutJob",): 74})
def nodes_that_nobody_uses_and_that_get_a_job_in_the_end(fleet: FleetSeries) -> None:
    leave_free(fleet, "a", 20, 70)


@incident({("WithoutJobBelowFloor",): 95}, minutes=130)
def a_node_for_a_dollar_an_hour_that_nobody_uses(fleet: FleetSeries) -> None:
    fleet.say("node_cost_usd_per_hour", 1.34, node="n3")
    leave_free(fleet, "b", 20)


@incident({("NodesWithoutJob",): 53}, minutes=90)
def a_node_without_a_price_that_nobody_uses(fleet: FleetSeries) -> None:
    fleet.say("node_cost_usd_per_hour", None, node="n3")
    leave_free(fleet, "b", 20)


@incident({}, minutes=90)
def half_an_hour_between_two_jobs(fleet: FleetSeries) -> None:
    leave_free(fleet, "a", 20, 50)


@incident({("CrashLoop", "a"): 23, ("CrashLoop", "b"): 43}, minutes=90)
def two_jobs_that_start_in_vain_one_after_the_other(fleet: FleetSeries) -> None:
    crash(fleet, "a", 20)
    crash(fleet, "b", 40)


@incident({("CrashLoop", "a"): 23}, minutes=90, over={("CrashLoop", "a"): 64})
def a_crash_loop_that_is_mended(fleet: FleetSeries) -> None:
    crash(fleet, "a", 20, 41)


@incident({("CrashLoop", "b"): 23})
def a_crash_loop_of_a_job_without_a_price(fleet: FleetSeries) -> None:
    fleet.job("b", cost_usd_per_hour=None)
    crash(fleet, "b", 20)


@incident({})
def a_crash_loop_for_a_dollar_an_hour(fleet: FleetSeries) -> None:
    fleet.job("b", cost_usd_per_hour=1.34)
    crash(fleet, "b", 20)


def crash(fleet: FleetSeries, job: str, since: int, until: int | None = None) -> None:
    """Three minutes of a start and three without the job, of which nothing is said, in turns."""
    for start in range(since, until or fleet.minutes, 6):
        fleet.job(job, start, start + 3, crash_looping=1, running_tensor_engine_utilization_ratio=None)
        gone = ("idle", "hung", "waiting", "cost_usd_per_hour", "wasted_usd_per_hour")
        fleet.job(job, start + 3, start + 6, **dict.fromkeys(gone, None))
    cores = ("running_core_utilization_ratio", "slowest_core_utilization_ratio")
    fleet.job(job, since, until, **dict.fromkeys((*cores, "running_tensor_engine_utilization_ratio"), None))


def leave_free(fleet: FleetSeries, job: str, since: int, until: int | None = None) -> None:
    """Its nodes have no job; from the 31st minute on they say that they are unused."""
    for node in fleet.jobs[job]:
        fleet.state(node, "NO_JOB", since, until)
        if until is None or since + 30 < until:
            fleet.say("node_nodes_unused", 1, since + 30, until, node=node)
    fleet.job(job, since, until, wasted_usd_per_hour=None, running_tensor_engine_utilization_ratio=None)
    fleet.job(job, since, until, running_core_utilization_ratio=None, slowest_core_utilization_ratio=None)
    fleet.job(job, since, until, idle=None, hung=None, waiting=None)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Told], list[Told]]]:
    """When each alarm of each case fired first and last, by Prometheus, for each delay; one process for all."""
    fleets = {name: FleetSeries(name, JOBS, each.minutes) for name, each in INCIDENTS.items()}
    for name, fleet in fleets.items():
        INCIDENTS[name].happens(fleet)
    # Fleets that last as long share their evaluations.
    lengths = sorted({fleet.minutes for fleet in fleets.values()})
    together = [[fleet for fleet in fleets.values() if fleet.minutes == minutes] for minutes in lengths]
    found = answers([case(each) for each in together], tmp_path_factory.mktemp("rules"), rules(settings()))
    return {
        fleet.name: (
            [told(first, fleet.name, delay) for delay in DELAYS],
            [told(last, fleet.name, delay) for delay in DELAYS],
        )
        for (first, last), each in zip(found, together, strict=True)
        for fleet in each
    }


@pytest.mark.parametrize("name", INCIDENTS)
def test_each_contributor_is_told_of_when_its_data_are_on_time(
    judged: Mapping[str, tuple[list[Told], list[Told]]], name: str
) -> None:
    assert judged[name][0][0] == INCIDENTS[name].told


@pytest.mark.parametrize("name", INCIDENTS)
def test_data_that_come_late_delay_an_alarm_by_as_much_and_change_nothing_else(
    judged: Mapping[str, tuple[list[Told], list[Told]]], name: str
) -> None:
    on_time = INCIDENTS[name].told
    for delay, found in zip(DELAYS, judged[name][0], strict=True):
        assert found.keys() == on_time.keys(), delay
        assert all(on_time[key] <= minute <= on_time[key] + delay for key, minute in found.items()), (delay, found)


@pytest.mark.parametrize("name", [name for name, each in INCIDENTS.items() if each.over])
def test_an_incident_is_over_when_its_contributor_has_been_well_for_the_recovery_period(
    judged: Mapping[str, tuple[list[Told], list[Told]]], name: str
) -> None:
    over = INCIDENTS[name].over or {}
    last = judged[name][1][0]
    assert {key: last[key] for key in over} == over

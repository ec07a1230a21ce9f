"""Whether a job idles: a running job whose cores rest, for longer than its pauses are known to last.

An idle minute is no idle job. A job validates on the host's CPUs, prepares data, or rolls out and trains in turns, and
from outside all of that looks like a job that was forgotten. What tells them apart is what the job announces
(``node_state``), host CPUs that work or wait for a disk, and pauses that it has made before and ended by itself. Each
is believed for some minutes and some dollars. A job whose pauses are short and take most of its hour idles too.
"""

from dataclasses import dataclass, replace
from typing import Final

from fleet.patience import UNANNOUNCED_USD, allowed

IDLE_PERCENT: Final = 5.0
# A pause that has begun ends with cores that work, not with one tick more than idle.
_RESUMED_PERCENT: Final = 10.0
# The alarm wants three such minutes more: six in all.
IDLE_MINUTES: Final = 3
# A lull of half an hour is an endpoint's ordinary life.
IDLE_MINUTES_OF_ENDPOINTS: Final = 25
# A job's first half hour is when it loads, warms up and shows its pattern.
YOUNG_MINUTES: Final = 30
_MINUTES_WHILE_YOUNG: Final = 10
# Of a validation, of tokenizing, of data that are fetched. Of the whole host: one thread on many CPUs does not show. A
# hang that waits on the host looks the same, so only a cheap node is believed for longer.
_MINUTES_ON_CPU: Final = 15
_MOST_MINUTES_ON_CPU: Final = 45
_USD_ON_CPU: Final = 5.0
CPU_BUSY_PERCENT: Final = 15.0
# Pauses that are learned: shorter ones need no patience, and longer ones are too dear to be taken for a habit.
_SHORTEST_LEARNED: Final = 3
_LONGEST_LEARNED: Final = 12
_PAUSES_REMEMBERED: Final = 8
_TWICE: Final = 2
_LATER_BY: Final = 2
# Steady work that ends a pause which was told of: less is the same incident.
_RECOVERY_MINUTES: Final = 3
DUTY_MINUTES: Final = 60
LEAST_DUTY_PERCENT: Final = 20.0


@dataclass(frozen=True, slots=True)
class RunningMinute:
    """A minute in which the job should have worked: busy time of its cores, of the host's CPUs, and the price an hour.

    ``core_percent`` is None where it was not measured, ``cpu_percent`` also where other jobs use the CPUs. For
    ``pause_minutes`` no execution has completed, those with an excuse counted too.
    """

    core_percent: float | None
    cpu_percent: float | None = None
    usd_per_hour: float | None = None
    pause_minutes: int = 0


@dataclass(frozen=True, slots=True)
class Idleness:
    """What is remembered of a job's pauses, in minutes.

    ``paused`` of the pause that goes on, ``on_cpu`` of them with busy CPUs, ``worked`` since; ``age`` of all that were
    seen. ``pauses`` are the lengths of those that ended by themselves, and ``recent`` has a 1 for each of the last
    minutes in which cores and CPUs idled, else a 0.
    """

    paused: int = 0
    on_cpu: int = 0
    worked: int = 0
    age: int = 0
    is_told: bool = False
    is_idle_now: bool = False
    pauses: tuple[int, ...] = ()
    recent: str = ""

    @property
    def is_idle(self) -> bool:
        """Whether the job idles: it is told of, and it rests in this very minute."""
        return self.is_told and self.is_idle_now


def after(known: Idleness, minute: RunningMinute | None, idle_minutes: int = IDLE_MINUTES) -> Idleness:
    """``known`` a minute later; without a ``minute`` it was excused. A pause goes on behind what is not measured."""
    if minute is None or minute.core_percent is None:
        return replace(known, age=known.age + 1, is_idle_now=False)
    rests = minute.core_percent < (_RESUMED_PERCENT if known.paused and not known.worked else IDLE_PERCENT)
    on_cpu = minute.cpu_percent is not None and minute.cpu_percent >= CPU_BUSY_PERCENT
    # Who rolls out on the CPUs for most of the hour works: its cores' share of it is not what it was bought for.
    recent = (known.recent + ("1" if rests and not on_cpu else "0"))[-DUTY_MINUTES:]
    now = replace(known, age=known.age + 1, is_idle_now=rests, recent=recent)
    if not rests:
        return _worked(now)
    now = replace(now, paused=known.paused + 1, on_cpu=known.on_cpu + on_cpu, worked=0)
    # One reason is not followed by the next: what was excused before is a part of the pause.
    is_long = now.paused >= idle_minutes and max(now.paused, minute.pause_minutes) >= _believed(
        now, minute.usd_per_hour
    )
    return replace(now, is_told=now.is_told or is_long or _is_seldom_busy(recent))


def behind_a_gap(known: Idleness) -> Idleness:
    """``known`` after minutes that nobody saw: a pause from before them may have ended, and this one may be another."""
    return known if known.is_told else replace(known, paused=0, on_cpu=0, worked=0)


def _worked(now: Idleness) -> Idleness:
    if not now.paused:
        return now
    now = replace(now, worked=now.worked + 1)
    if now.is_told and (now.worked < _RECOVERY_MINUTES or _is_seldom_busy(now.recent)):
        return now
    is_learned = _SHORTEST_LEARNED <= now.paused <= _LONGEST_LEARNED
    pauses = (*now.pauses, now.paused)[-_PAUSES_REMEMBERED:] if is_learned else now.pauses
    return replace(now, paused=0, on_cpu=0, worked=0, is_told=False, pauses=pauses)


def _believed(now: Idleness, usd_per_hour: float | None) -> float:
    reasons: list[float] = []
    if now.age <= YOUNG_MINUTES:
        reasons.append(_MINUTES_WHILE_YOUNG)
    if 2 * now.on_cpu >= now.paused:
        cheap = allowed(_MOST_MINUTES_ON_CPU, _USD_ON_CPU, usd_per_hour) if usd_per_hour else 0.0
        reasons.append(max(_MINUTES_ON_CPU, cheap))
    if len(now.pauses) >= _TWICE:
        # As long as it has paused twice: one pause that took longer is no habit.
        reasons.append(sorted(now.pauses)[-_TWICE] + _LATER_BY)
    return allowed(max(reasons, default=0), UNANNOUNCED_USD, usd_per_hour)


def _is_seldom_busy(recent: str) -> bool:
    return len(recent) == DUTY_MINUTES and 100 * recent.count("0") < LEAST_DUTY_PERCENT * DUTY_MINUTES

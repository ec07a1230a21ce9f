"""When a datum can be seen: what lies between the minute that it is of and the alarm that looks at it.

CloudWatch evaluates an alarm on what is there at that moment, and what comes later is seen at its own timestamp by the
evaluations after it. How long PutMetricData takes to be visible is not documented but as "a few minutes" at the most
(CloudWatch API reference, "PutMetricData": a new metric up to fifteen), so it is a parameter that the backtest sweeps,
and nothing is drawn without a seed.

Sources: ``SPREAD`` of the agent's own delivery; "PutMetricData" has no client token, so a batch that is repeated after
a lost answer is stored twice; a batch that is lost waits in the agent's spool and comes with a later minute's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from random import Random
from typing import Final

from agents.sinks.delivery import SPREAD, share
from fleet.node_state import NodeState
from local.simulation.lockstep import SETTLE_SECONDS

_MINUTE: Final = 60
# How much later a lost batch comes.
_RESENT_SECONDS: Final = 3 * _MINUTE


class Late(StrEnum):
    """Whose data miss the first evaluation of their minute: that minute is there, and is not complete."""

    NOBODY = "nobody"
    AFFECTED = "affected"
    """Every node that does anything but run."""
    HALF = "half"
    """Half of the nodes, drawn anew every minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How data come. ``delay_seconds`` is drawn between the two for each datum, and the same for all where they are.

    Within ``spread_seconds`` every node sends at its own moment of the minute. ``skewed_share`` of the nodes' clocks
    are wrong by ``skew_minutes``, in one direction or the other. ``lost_share`` of the batches come later, and
    ``repeated_share`` come twice.
    """

    name: str = "at once"
    delay_seconds: tuple[int, int] = (0, 0)
    spread_seconds: float = 0.0
    late: Late = Late.NOBODY
    skew_minutes: int = 0
    skewed_share: float = 2 / 3
    lost_share: float = 0.0
    repeated_share: float = 0.0
    seed: int = 1

    @classmethod
    def after(cls, minutes: int) -> "Delivery":
        """Every datum so many minutes late."""
        return cls(name=f"{minutes} min late", delay_seconds=(minutes * _MINUTE, minutes * _MINUTE))

    @property
    def allowed_minutes(self) -> int:
        """How much later than at once an alarm may tell of something: what the data themselves are late."""
        seconds = self.delay_seconds[1] + (_RESENT_SECONDS if self.lost_share else 0)
        misses_first_look = self.spread_seconds > SETTLE_SECONDS or self.late is not Late.NOBODY
        return ceil(seconds / _MINUTE) + misses_first_look + self.skew_minutes


AT_ONCE: Final = Delivery()
SWEEP: Final = (
    AT_ONCE,
    *(Delivery.after(minutes) for minutes in (1, 2, 5)),
    Delivery(name="drawn, 0 to 5 min", delay_seconds=(0, 300)),
    Delivery(name=f"sent over {SPREAD:g} s", spread_seconds=SPREAD),
    Delivery(name="affected nodes one look late", late=Late.AFFECTED),
    Delivery(name="half of the nodes one look late", late=Late.HALF),
    Delivery(name="1 clock in 8 wrong by 3 min", skew_minutes=3, skewed_share=1 / 8),
    Delivery(name="2 clocks in 3 wrong by 3 min", skew_minutes=3),
    Delivery(name="1 batch in 20 lost, 1 in 20 twice", lost_share=0.05, repeated_share=0.05),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of one batch: how far its timestamps are off, how often it came, when each datum can be seen."""

    offset: int
    times: int
    visible_at: Callable[[], int]


class Arrivals:
    """Draws what becomes of each batch. ``of`` is what is replayed: another scenario has other draws."""

    def __init__(self, delivery: Delivery, of: str) -> None:
        self._delivery = delivery
        self._random = Random(f"{delivery.seed} {of}")  # noqa: S311  draws the same again, and hides nothing
        self._offsets: dict[str, int] = {}

    def of_node(self, node: str, state: NodeState | None, sent: int) -> Batch:
        """A batch that ``node`` sends in the minute that begins at unix second ``sent``."""
        how = self._delivery
        if how.late is Late.HALF:
            is_late = self._random.random() < 0.5
        else:
            is_late = how.late is Late.AFFECTED and state is not NodeState.RUNNING
        at = sent + is_late * _MINUTE
        if how.spread_seconds:
            at += int(share(node, "spread") * how.spread_seconds)
        if how.lost_share and self._random.random() < how.lost_share:
            at += _RESENT_SECONDS
        twice = how.repeated_share > 0 and self._random.random() < how.repeated_share
        return Batch(self._offset_of(node), 1 + twice, self._visible(at))

    def of_aws(self, sent: int) -> Batch:
        """What a function or a service of AWS publishes: one sender, whose clock is right."""
        return Batch(0, 1, self._visible(sent))

    def _visible(self, at: int) -> Callable[[], int]:
        shortest, longest = self._delivery.delay_seconds
        if shortest == longest:
            return lambda: at + shortest
        return lambda: at + self._random.randint(shortest, longest)

    def _offset_of(self, node: str) -> int:
        skew = self._delivery.skew_minutes
        if skew and node not in self._offsets:
            is_wrong = self._random.random() < self._delivery.skewed_share
            self._offsets[node] = is_wrong * self._random.choice((-skew, skew)) * _MINUTE
        return self._offsets.get(node, 0)

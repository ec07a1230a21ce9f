"""How long work may stand still before somebody is told, by the reason that it gives: in minutes and in dollars.

Minutes alone are cheap on a small node and dear on a large one, so every reason has a most of dollars too, of the node
that stands still. The figures were chosen by what they cost: see each.
"""

from dataclasses import dataclass
from typing import Final

# What a job says itself. A slow checkpoint of a large model, a long evaluation; who needs more says so.
ANNOUNCED_MINUTES: Final = 45.0
LONGEST_ANNOUNCED_MINUTES: Final = 8 * 60.0
# More than an hour of a trn1.32xlarge, at 21.50 an hour in us-east-2.
ANNOUNCED_USD: Final = 25.0
# A wait for the compiler of a peer ends with it, and CompileTooLong looks after that one: three hours of a
# trn1.32xlarge are 64.50.
WAITING_USD: Final = 100.0
WAITING_MINUTES: Final = 4 * 60.0
# What only looks as if it had a reason: host CPUs that work, or a pause as the job has made before.
UNANNOUNCED_USD: Final = 10.0
WAITING: Final = "waiting"


@dataclass(frozen=True, slots=True)
class Announced:
    """A phase that a job says it is in, and the minutes that it asks for; None leaves them to the default.

    ``job`` is empty where it is not said whose it is.
    """

    name: str
    minutes: float | None = None
    job: str = ""


def allowed(minutes: float, usd: float, usd_per_hour: float | None) -> float:
    """``minutes``, or as many as ``usd`` buy of a node at ``usd_per_hour`` where that is fewer.

    Without a known price the minutes alone count.
    """
    return min(minutes, 60.0 * usd / usd_per_hour) if usd_per_hour else minutes


def announced(phase: Announced, usd_per_hour: float | None) -> float:
    """Minutes for ``phase``, counted from when it was first seen."""
    default = WAITING_MINUTES if phase.name == WAITING else ANNOUNCED_MINUTES
    asked = default if phase.minutes is None else min(max(0.0, phase.minutes), LONGEST_ANNOUNCED_MINUTES)
    return allowed(asked, most_usd(phase), usd_per_hour)


def most_usd(phase: Announced) -> float:
    """Dollars of the node that announced phases may cost, one after the other."""
    return WAITING_USD if phase.name == WAITING else ANNOUNCED_USD

"""How a new version of an endpoint takes over, step by step, or does not: a state machine over data. No I/O, no clock.

``plan`` says which steps, bakes and gates; ``facts`` what was seen; ``record`` where a rollout stands; ``gates`` judges
what was seen, ``decide`` says what is next, ``commands`` what people may ask for, ``report`` what became of it.
"""

from fleet.rollout.decide import decide
from fleet.rollout.facts import Facts, Minute, Side
from fleet.rollout.phases import RefusedError, abort, pause, report, resume, serving
from fleet.rollout.plan import Gates, Plan, PlanError
from fleet.rollout.record import Outcome, Phase, Rollout, Wanted, begin, wanted

__all__ = [
    "Facts",
    "Gates",
    "Minute",
    "Outcome",
    "Phase",
    "Plan",
    "PlanError",
    "RefusedError",
    "Rollout",
    "Side",
    "Wanted",
    "abort",
    "begin",
    "decide",
    "pause",
    "report",
    "resume",
    "serving",
    "wanted",
]

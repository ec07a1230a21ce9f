"""What runs in answer to clocks and events: Lambda, DynamoDB, Step Functions."""

from typing import Final

from fleet.fleet_spec import Purpose
from planning.month.line import NOTHING, Group, Line, Spread, priced_line
from planning.month.prices import HOURS, MINUTES
from planning.month.shape import EnvironmentShape, Function

MEMORY_GB: Final = 0.25
# Looks of a clock each minute; pages and tickets as they come.
PAGES: Final = Spread(20, 200, 5_000)
_CALLS: Final = {
    Function.PAGER: PAGES,
    Function.CAPACITY_WATCH: Spread.certain(MINUTES),
    Function.CAPACITY_BLOCKS: Spread.certain(MINUTES),
    Function.POOLS: Spread.certain(MINUTES),
    # Two for each model version, and one more for each ten minutes that another execution is waited for.
    Function.PRECOMPILE: Spread(0, 20, 200),
    Function.PRICES: Spread.certain(31),
    Function.LEDGER: Spread.certain(HOURS),
    # Every hour, and once a day for the digest.
    Function.BUDGETS: Spread.certain(HOURS + 31),
    # ROLLOUTS_OF_AN_ENDPOINT, and a look each minute or two.
    Function.ROLLOUT: Spread(0, 400, 3_000),
}
# A look asks EC2, Batch and CloudWatch some ten times; a page waits up to five seconds for the log query.
_SECONDS: Final = {
    Function.PAGER: Spread(2, 6, 12),
    Function.CAPACITY_WATCH: Spread(1, 3, 15),
    Function.CAPACITY_BLOCKS: Spread(0.5, 1.5, 10),
    Function.POOLS: Spread(1, 3, 15),
    Function.PRECOMPILE: Spread(1, 3, 20),
    Function.PRICES: Spread(20, 60, 300),
    Function.LEDGER: Spread(5, 20, 120),
    Function.BUDGETS: Spread(2, 6, 60),
    Function.ROLLOUT: Spread(1, 3, 20),
}
_MEMORY_GB: Final = {Function.LEDGER: 3008 / 1024}
# These read a table of their own at every look.
_LOOKING: Final = frozenset({Function.CAPACITY_BLOCKS, Function.POOLS})
ROLLOUTS_OF_AN_ENDPOINT: Final = Spread(0, 4, 30)
TRANSITIONS_OF_A_ROLLOUT: Final = 100


def function_lines(environment: EnvironmentShape) -> list[Line]:
    """Invocations, their duration, the tables behind them, and the rollouts of endpoints.

    Nothing is taken off for the free tier, which the whole account shares.
    """
    calls, seconds = NOTHING, NOTHING
    for function in environment.functions:
        made, lasts = _CALLS[function], _SECONDS[function]
        calls += made
        seconds += made.times(lasts) * _MEMORY_GB.get(function, MEMORY_GB)
    names = ", ".join(environment.functions)
    lines = [
        _line("Lambda, invocations", calls, "lambda-request", f"{names}: clocks by the minute, pages as they come"),
        _line("Lambda, duration", seconds, "lambda-arm-gb-second", f"{MEMORY_GB * 1024:g} MB each, the ledger's 3,008"),
    ]
    if environment.tables:
        # The pager takes and marks each page; nodes and the watch read prices too seldom to count.
        reads = Spread.certain(MINUTES * len(_LOOKING.intersection(environment.functions))) + PAGES
        lines.append(_line("DynamoDB, writes", PAGES * 2, "dynamodb-write", "two for each page"))
        lines.append(_line("DynamoDB, reads", reads, "dynamodb-read", f"{environment.tables} small tables"))
    serving = sum(fleet.purpose is Purpose.INFERENCE for fleet in environment.fleets)
    if serving:
        transitions = ROLLOUTS_OF_AN_ENDPOINT * (serving * TRANSITIONS_OF_A_ROLLOUT)
        because = (
            f"{ROLLOUTS_OF_AN_ENDPOINT.low:g}, {ROLLOUTS_OF_AN_ENDPOINT.expected:g}, "
            f"{ROLLOUTS_OF_AN_ENDPOINT.high:g} rollouts an endpoint of {TRANSITIONS_OF_A_ROLLOUT} steps"
        )
        lines.append(_line("Step Functions, rollouts", transitions, "step-functions-transition", because))
    return lines


def _line(what: str, quantity: Spread, price: str, because: str) -> Line:
    return priced_line(Group.FUNCTIONS, what, quantity, price, because)

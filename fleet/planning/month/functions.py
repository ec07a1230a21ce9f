"""What runs in answer to clocks and events: Lambda, DynamoDB, Step Functions."""

from typing import Final

from fleet.fleet_spec import Purpose
from fleet.planning.month.line import NOTHING, Group, Line, Spread, priced_line
from fleet.planning.month.prices import MINUTES
from fleet.planning.month.shape import EnvironmentShape, Function

MEMORY_GB: Final = 0.25
# Looks of a clock each minute; pages and tickets as they come.
PAGES: Final = Spread(20, 200, 5_000)
_CALLS: Final = {
    Function.PAGER: PAGES,
    Function.CAPACITY_WATCH: Spread.certain(MINUTES),
    Function.CAPACITY_BLOCKS: Spread.certain(MINUTES),
}
# A look asks EC2, Batch and CloudWatch some ten times; a page waits up to five seconds for the log query.
_SECONDS: Final = {
    Function.PAGER: Spread(2, 6, 12),
    Function.CAPACITY_WATCH: Spread(1, 3, 15),
    Function.CAPACITY_BLOCKS: Spread(0.5, 1.5, 10),
}
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
        seconds += made.times(lasts) * MEMORY_GB
    names = ", ".join(environment.functions)
    lines = [
        _line("Lambda, invocations", calls, "lambda-request", f"{names}: clocks by the minute, pages as they come"),
        _line("Lambda, duration", seconds, "lambda-arm-gb-second", f"{MEMORY_GB * 1024:g} MB each"),
    ]
    if environment.tables:
        # The engine reads its requests at every look; the pager takes and marks each page.
        reads = Spread.certain(MINUTES * (environment.tables - 1)) + PAGES
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

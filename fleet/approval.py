"""Approvals by people: what a signature under a command stands for, and what refuses it.

Who signs (the command line) and who checks (the function that is asked) have to agree on it.
"""

from typing import Final

from fleet import FleetError

HEADER: Final = "x-neuron-fleet-request"
SECONDS: Final = 60
"""How long a signature is good for."""

BUDGET: Final = "budget"
"""What a decision about a budget's stop is signed for, in place of a request's id."""


class RefusedError(FleetError, ValueError):
    """The step is not allowed; the message says what stands against it, in one line."""


def binding(environment: str, action: str, request_id: str) -> str:
    """The header's value. A signature for one action, request and environment is none for another."""
    return f"{environment}/{action}/{request_id}"

"""What a person's signature under a command stands for; who signs and who checks have to agree on it."""

from typing import Final

HEADER: Final = "x-neuron-fleet-request"
SECONDS: Final = 60
"""How long a signature is good for."""


def binding(environment: str, action: str, request_id: str) -> str:
    """The header's value. A signature for one action, request and environment is none for another."""
    return f"{environment}/{action}/{request_id}"

"""What an environment file says of the VPC."""

from ipaddress import IPv4Network
from typing import Annotated

from pydantic import BeforeValidator, Field

from environments.strict_model import StrictModel


def _as_text(cidr: object) -> object:
    # Pydantic would take a number for an address: 16 for 0.0.0.16/32.
    if not isinstance(cidr, str | IPv4Network):
        raise ValueError("a network is text")  # noqa: TRY004 (pydantic reports ValueError alone)
    return cidr


Cidr = Annotated[IPv4Network, BeforeValidator(_as_text)]


class Network(StrictModel):
    """The VPC. Zone names differ between accounts, zone ids do not: the file gives both."""

    cidr: Cidr
    availability_zones: Annotated[dict[str, str], Field(min_length=1)]
    nat_gateways: Annotated[int, Field(ge=1, le=3)] = 1
    """At least one: nodes fetch packages of Amazon Linux, and the agent's own where its archive was not built."""

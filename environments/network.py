"""What an environment file says of the VPC."""

from ipaddress import IPv4Network
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from environments.strict_model import StrictModel

# RFC 1918, and what carriers and some VPCs share behind their own address: RFC 6598.
_PRIVATE: Final = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))


def _as_text(cidr: object) -> object:
    # Pydantic would take a number for an address: 16 for 0.0.0.16/32.
    if not isinstance(cidr, str | IPv4Network):
        raise ValueError("a network is text")  # noqa: TRY004 (pydantic reports ValueError alone)
    return cidr


Cidr = Annotated[IPv4Network, BeforeValidator(_as_text)]


def is_private(cidr: IPv4Network) -> bool:
    """Whether nobody on the internet has its addresses."""
    return any(cidr.subnet_of(private) for private in _PRIVATE)


class Network(StrictModel):
    """The VPC. Zone names differ between accounts, zone ids do not: the file gives both."""

    cidr: Cidr
    availability_zones: Annotated[dict[str, str], Field(min_length=1)]
    nat_gateways: Annotated[int, Field(ge=1, le=3)] = 1
    """At least one: nodes fetch packages of Amazon Linux, and the agent's own where its archive was not built."""

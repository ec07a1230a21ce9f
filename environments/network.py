"""What an environment file says of the VPC, and how large its subnets become, before there is a template to look at.

The CDK cuts a VPC so: first a public subnet of a fixed size for each zone, then the rest into equal powers of two.
A test holds these figures against the templates of every environment.
"""

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


PUBLIC_MASK: Final = 26
"""A public subnet holds a NAT gateway and public load balancers; nodes take the rest: one address per network card."""
RESERVED_ADDRESSES: Final = 5
"""VPC user guide, subnet sizing: the first four addresses and the last of every subnet."""
SMALLEST_SUBNET: Final = 16
"""VPC user guide: a subnet is a /28 at least."""
SERVICE_ADDRESSES: Final = 12
"""In every zone: the eleven interface endpoints of ``stacks.network``, and the mount target of the compile cache."""
BALANCER_ADDRESSES: Final = 8
"""Elastic Load Balancing user guide: an Application Load Balancer needs eight free addresses in each subnet, which is a
/27 at least."""
GATEWAY_ADDRESSES: Final = 1
"""A zone has one NAT gateway at most, with one private address."""
PUBLIC_ADDRESSES: Final = (1 << (32 - PUBLIC_MASK)) - RESERVED_ADDRESSES - GATEWAY_ADDRESSES
"""Of each zone, for public load balancers."""


def node_addresses(cidr: IPv4Network, zones: int) -> int:
    """Addresses that nodes, tasks and internal load balancers can have in each zone; 0 where the VPC cannot be cut."""
    public = zones << (32 - PUBLIC_MASK)
    share = (cidr.num_addresses - public) // zones
    if share < SMALLEST_SUBNET:
        return 0
    size = 1 << (share.bit_length() - 1)
    first = -(-public // size) * size
    if first + zones * size > cidr.num_addresses:
        return 0
    return max(size - RESERVED_ADDRESSES - SERVICE_ADDRESSES, 0)

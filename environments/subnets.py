"""How large the subnets of an environment become, before there is a template to look at.

The CDK cuts a VPC so: first a public subnet of a fixed size for each zone, then the rest into equal powers of two.
A test holds these figures against the templates of every environment.
"""

from ipaddress import IPv4Network
from typing import Final

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

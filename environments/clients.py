"""Who may call an endpoint, as an environment's file says it: docs/serving.md."""

from ipaddress import IPv4Network
from typing import Annotated, Final

from pydantic import Field

from environments.network import Cidr
from environments.strict_model import StrictModel

# VPC quotas: 60 inbound rules of a security group, of which the VPC's own network is one.
MOST_NETWORKS: Final = 59


class Clients(StrictModel):
    """The networks that may call. Default: the VPC, at a load balancer that only private addresses reach."""

    cidrs: Annotated[tuple[Cidr, ...], Field(max_length=MOST_NETWORKS)] = ()
    """IPv4 networks: beside the VPC's own, or with ``public`` all that there are."""
    public: bool = False
    """Whether the load balancer is on the internet, open to ``cidrs`` alone."""

    def let_in(self, vpc: IPv4Network) -> tuple[IPv4Network, ...]:
        """The networks that reach the load balancer of an endpoint in ``vpc``, each once.

        A public one's name means public addresses, also within the VPC: what calls from there comes from the address of
        a NAT gateway, and the VPC's own network would let in nobody.
        """
        if self.public:
            return tuple(dict.fromkeys(self.cidrs))
        return (vpc, *(cidr for cidr in dict.fromkeys(self.cidrs) if not cidr.subnet_of(vpc)))

"""What must hold of those who may call an endpoint: nobody by accident, everybody never."""

from collections.abc import Iterator
from typing import Final

from environments.fleets import InferenceFleet
from environments.model import Environment
from environments.network import is_private
from fleet.diagnostics import Diagnostic, note, refuse, warn

# The largest block that anybody was ever given, and the largest private network: 10.0.0.0/8.
WIDEST: Final = 8
_CIDRS: Final = "endpoint.clients.cidrs"


def diagnose_clients(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    """Everything that is to be said of ``endpoint.clients``, with paths relative to the fleet's entry."""
    yield from _names_networks(fleet)
    if fleet.endpoint.clients.public:
        yield from _is_public(environment, fleet)
    else:
        yield from _is_internal(environment, fleet)


def _names_networks(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    for index, cidr in enumerate(fleet.endpoint.clients.cidrs):
        if cidr.prefixlen < WIDEST:
            yield refuse(
                "clients-too-wide",
                f"{_CIDRS}[{index}]",
                cidr,
                f"{cidr} is everybody" if cidr.prefixlen == 0 else f"{cidr} has {cidr.num_addresses:,} addresses",
                f"name the networks that call, each a /{WIDEST} or smaller",
            )


def _is_public(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    endpoint = fleet.endpoint
    if not endpoint.clients.cidrs:
        yield refuse(
            "public-without-networks",
            _CIDRS,
            "",
            "missing: a public endpoint is open to nobody but the networks that are named",
            "name those that call, such as [203.0.113.0/24], or remove public",
        )
    if environment.plain_http and endpoint.certificate_arn is None:
        yield refuse(
            "public-without-tls",
            "endpoint.certificate_arn",
            "",
            "missing: a public endpoint speaks TLS, also where plain_http is true",
            "give the certificate's ARN, or remove endpoint.clients.public",
        )
    for index, cidr in enumerate(endpoint.clients.cidrs):
        if is_private(cidr):
            yield warn(
                "private-network-of-a-public-endpoint",
                f"{_CIDRS}[{index}]",
                cidr,
                f"nobody in {cidr} reaches it: a public load balancer's name means public addresses",
                "name the addresses of their NAT gateways, such as 203.0.113.7/32, or remove public",
            )
    if endpoint.clients.cidrs:
        named = ", ".join(map(str, endpoint.clients.cidrs))
        yield note(
            "public-endpoint", "endpoint.clients.public", "true", f"it is on the internet, open to {named} alone"
        )


def _is_internal(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    endpoint = fleet.endpoint
    for index, cidr in enumerate(endpoint.clients.cidrs):
        if cidr.subnet_of(environment.network.cidr):
            continue
        if not is_private(cidr) and cidr.prefixlen >= WIDEST:
            yield warn(
                "public-network-of-an-internal-endpoint",
                f"{_CIDRS}[{index}]",
                cidr,
                f"{cidr} reaches an internal load balancer over a peering or a VPN only, and never over the internet",
                "add public: true, or remove it",
            )
        if environment.plain_http and endpoint.certificate_arn is None:
            yield warn(
                "clients-over-plain-http",
                f"{_CIDRS}[{index}]",
                cidr,
                f"{cidr} is outside of the VPC, and would be answered without TLS",
                "give endpoint.certificate_arn, or remove it",
            )

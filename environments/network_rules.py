"""What must hold of the network: zones that exist, and addresses for everything that lives in them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from environments.fleets import InferenceFleet
from environments.model import Environment
from environments.network import BALANCER_ADDRESSES, PUBLIC_ADDRESSES, PUBLIC_MASK, is_private, node_addresses
from fleet.capacity import FleetRefusedError, LaunchPlan, compile_fleet
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import FleetSpec

LARGEST_VPC: Final = 16
SMALLEST_VPC: Final = 28


def diagnose_network(environment: Environment, specs: Mapping[int, FleetSpec]) -> Iterator[Diagnostic]:
    """Everything that is wrong with ``network``; ``specs`` are those of the fleets with nodes, by their place there."""
    yield from _zone_ids_differ(environment)
    yield from _gateways_have_zones(environment)
    yield from _is_a_vpc(environment)
    yield from _public_subnets_have_addresses(environment)
    if LARGEST_VPC <= environment.network.cidr.prefixlen <= SMALLEST_VPC:
        yield from _has_addresses(environment, specs)


def _zone_ids_differ(environment: Environment) -> Iterator[Diagnostic]:
    # Zone ids name places, zone names are an account's own words for them: no two names mean one place.
    named = Counter(environment.network.availability_zones.values())
    for zone, zone_id in environment.network.availability_zones.items():
        if named[zone_id] > 1:
            yield refuse(
                "zone-id-twice",
                f"network.availability_zones.{zone}",
                zone_id,
                f"{zone_id} is the id of two zones here",
                "look them up: aws ec2 describe-availability-zones",
            )


def _gateways_have_zones(environment: Environment) -> Iterator[Diagnostic]:
    network = environment.network
    if network.nat_gateways > len(network.availability_zones):
        yield warn(
            "more-gateways-than-zones",
            "network.nat_gateways",
            network.nat_gateways,
            f"{network.nat_gateways} NAT gateways in {len(network.availability_zones)} zones: each zone gets one",
            f"use {len(network.availability_zones)}",
        )


def _is_a_vpc(environment: Environment) -> Iterator[Diagnostic]:
    # VPC user guide, VPC CIDR blocks: /16 to /28; public ranges can be used, and hide what they belong to.
    cidr = environment.network.cidr
    if not LARGEST_VPC <= cidr.prefixlen <= SMALLEST_VPC:
        size = f"a VPC is a /{LARGEST_VPC} to a /{SMALLEST_VPC}, not a /{cidr.prefixlen}"
        yield refuse("vpc-size", "network.cidr", cidr, size, f"use {cidr.network_address}/{LARGEST_VPC}")
    if not is_private(cidr):
        yield warn(
            "vpc-of-public-addresses",
            "network.cidr",
            cidr,
            f"{cidr} belongs to somebody on the internet, whom nodes could then not reach",
            "use a range within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16",
        )


def _has_addresses(environment: Environment, specs: Mapping[int, FleetSpec]) -> Iterator[Diagnostic]:
    network = environment.network
    room = node_addresses(network.cidr, len(network.availability_zones))
    if room == 0:
        yield refuse(
            "vpc-too-small",
            "network.cidr",
            network.cidr,
            f"{network.cidr} has no room for subnets in {len(network.availability_zones)} zones",
            f"use {_widened(environment, 1)}",
        )
        return
    for zone, needed in _needed(environment, specs).items():
        if needed > room:
            yield refuse(
                "too-few-addresses",
                "network.cidr",
                network.cidr,
                f"the fleets in {zone} need {needed} addresses, and its subnet has {room} to give",
                f"use {_widened(environment, needed)}, or efa_layout: efa-only, or fewer nodes",
            )


def _public_subnets_have_addresses(environment: Environment) -> Iterator[Diagnostic]:
    public = sum(fleet.endpoint.clients.public for fleet in environment.inference_fleets)
    most = PUBLIC_ADDRESSES // BALANCER_ADDRESSES
    if public > most:
        yield refuse(
            "too-many-public-endpoints",
            "fleets",
            public,
            f"{public} public endpoints: a public subnet is a /{PUBLIC_MASK} and has room for {most} load balancers",
            "let some be reached from private networks, or divide them among environments",
        )


def _needed(environment: Environment, specs: Mapping[int, FleetSpec]) -> Counter[str]:
    """Addresses by zone name, with nodes spread evenly over the zones of an inference fleet."""
    needed: Counter[str] = Counter()
    zones = environment.network.availability_zones
    for index, spec in specs.items():
        fleet = environment.fleets[index]
        try:
            plan = compile_fleet(spec)
        except FleetRefusedError:
            continue
        offered = [zone for zone, zone_id in zones.items() if zone_id in plan.zone_ids]
        for zone in offered:
            needed[zone] += _of_nodes(plan, -(-plan.nodes // len(offered)))
        if isinstance(fleet, InferenceFleet) and not fleet.endpoint.clients.public:
            needed.update(dict.fromkeys(zones, BALANCER_ADDRESSES))
    for fleet in environment.hosted_fleets:
        # A rollout has all instances twice, and SageMaker as many again while it changes them.
        most = fleet.endpoint.sagemaker.max if fleet.endpoint.sagemaker else fleet.nodes
        needed.update(dict.fromkeys(zones, -(-4 * most // len(zones))))
    return needed


def _of_nodes(plan: LaunchPlan, nodes: int) -> int:
    # The task on a node has an interface of its own: jobs and endpoints use network mode awsvpc.
    return nodes * (plan.addresses_per_node + 1)


def _widened(environment: Environment, needed: int) -> str:
    network = environment.network
    for prefix in range(network.cidr.prefixlen - 1, LARGEST_VPC - 1, -1):
        wider = network.cidr.supernet(new_prefix=prefix)
        if node_addresses(wider, len(network.availability_zones)) >= needed:
            return str(wider)
    return "fewer zones or another environment: no VPC is large enough"

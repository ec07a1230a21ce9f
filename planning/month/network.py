"""What the VPC and the load balancers cost."""

from typing import Final

from fleet.fleet_spec import Purpose
from planning.month.capacity import running_hours
from planning.month.cloudwatch import node_gigabytes
from planning.month.line import NOTHING, Group, Line, Spread, priced_line
from planning.month.prices import HOURS
from planning.month.shape import EnvironmentShape, Use

# Packages and images that are not in ECR or S3; a node that starts often fetches them again.
NAT_GB_OF_A_NODE: Final = Spread(1, 5, 50)
# An image of the Neuron containers is some 15 GB, of which layers in S3 pass the gateway endpoint for nothing.
ENDPOINT_GB_OF_A_NODE: Final = Spread(0.5, 2, 10)
# 1 GB an hour, 25 new connections a second or 3,000 active ones are one unit; text is little.
LCUS: Final = Spread(0.1, 1, 10)
# One, and as many as its subnet must have free for it when it is busy: Elastic Load Balancing user guide.
ADDRESSES_OF_A_BALANCER_AND_ZONE: Final = Spread(1, 1, 8)


def network_lines(environment: EnvironmentShape, use: Use) -> list[Line]:
    """NAT gateways, interface endpoints, load balancers."""
    nodes = environment.nodes
    gateways = Spread.certain(environment.nat_gateways * HOURS)
    endpoints = environment.interface_endpoints * environment.zones
    sent = sum((node_gigabytes(fleet, running_hours(fleet, use)) for fleet in environment.fleets), NOTHING)
    of_gateways = f"{environment.nat_gateways} of them, with an address each"
    lines = [
        _line("NAT gateways", gateways, "nat-gateway-hour", of_gateways),
        _line("addresses of the NAT gateways", gateways, "public-ipv4-hour", of_gateways),
        _line("through the NAT gateways", NAT_GB_OF_A_NODE * nodes, "nat-gb", _a_node(NAT_GB_OF_A_NODE, nodes)),
        _line(
            "interface endpoints",
            Spread.certain(endpoints * HOURS),
            "interface-endpoint-hour",
            f"{environment.interface_endpoints} in {environment.zones} zones; those of S3 and DynamoDB are free",
        ),
        _line(
            "through the interface endpoints",
            ENDPOINT_GB_OF_A_NODE * nodes + sent,
            "interface-endpoint-gb",
            f"{_a_node(ENDPOINT_GB_OF_A_NODE, nodes)}, and the log events",
        ),
    ]
    serving = sum(fleet.purpose is Purpose.INFERENCE for fleet in environment.fleets)
    if serving:
        hours = Spread.certain(serving * HOURS)
        lines.append(_line("load balancers", hours, "alb-hour", f"{serving}, one for each endpoint"))
        units = f"{LCUS.low:g}, {LCUS.expected:g}, {LCUS.high:g} capacity units on average; 1 is 1 GB an hour"
        lines.append(_line("load balancers' capacity", LCUS * (serving * HOURS), "lcu-hour", units))
    if environment.public_balancers:
        lines.append(_public_addresses(environment))
    return lines


def _public_addresses(environment: EnvironmentShape) -> Line:
    each, count = ADDRESSES_OF_A_BALANCER_AND_ZONE, environment.public_balancers
    because = f"{each.low:g} to {each.high:g} in each of {environment.zones} zones, for {count} public load balancers"
    hours = each * (count * environment.zones * HOURS)
    return _line("addresses of the public load balancers", hours, "public-ipv4-hour", because)


def _line(what: str, quantity: Spread, price: str, because: str) -> Line:
    return priced_line(Group.NETWORK, what, quantity, price, because)


def _a_node(each: Spread, nodes: int) -> str:
    return f"{each.low:g}, {each.expected:g}, {each.high:g} GB for each of {nodes} nodes"

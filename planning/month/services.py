"""What services beside instances and CloudWatch cost: the network, what is kept, and what runs in answer to clocks."""

from functools import partial
from typing import Final

from fleet.fleet_spec import Purpose
from planning.month.capacity import running_hours
from planning.month.cloudwatch import node_gigabytes
from planning.month.line import NOTHING, Group, Line, Spread, priced_line
from planning.month.prices import HOURS, MINUTES
from planning.month.shape import EnvironmentShape, Function, Use

# Packages and images that are not in ECR or S3; a node that starts often fetches them again.
NAT_GB_OF_A_NODE: Final = Spread(1, 5, 50)
# An image of the Neuron containers is some 15 GB, of which layers in S3 pass the gateway endpoint for nothing.
ENDPOINT_GB_OF_A_NODE: Final = Spread(0.5, 2, 10)
# 1 GB an hour, 25 new connections a second or 3,000 active ones are one unit; text is little.
LCUS: Final = Spread(0.1, 1, 10)
# One, and as many as its subnet must have free for it when it is busy: Elastic Load Balancing user guide.
ADDRESSES_OF_A_BALANCER_AND_ZONE: Final = Spread(1, 1, 8)
_network = partial(priced_line, Group.NETWORK)


def network_lines(environment: EnvironmentShape, use: Use) -> list[Line]:
    """NAT gateways, interface endpoints, load balancers."""
    nodes = environment.nodes
    gateways = Spread.certain(environment.nat_gateways * HOURS)
    endpoints = environment.interface_endpoints * environment.zones
    sent = sum((node_gigabytes(fleet, running_hours(fleet, use)) for fleet in environment.fleets), NOTHING)
    of_gateways = f"{environment.nat_gateways} of them, with an address each"
    lines = [
        _network("NAT gateways", gateways, "nat-gateway-hour", of_gateways),
        _network("addresses of the NAT gateways", gateways, "public-ipv4-hour", of_gateways),
        _network("through the NAT gateways", NAT_GB_OF_A_NODE * nodes, "nat-gb", _a_node(NAT_GB_OF_A_NODE, nodes)),
        _network(
            "interface endpoints",
            Spread.certain(endpoints * HOURS),
            "interface-endpoint-hour",
            f"{environment.interface_endpoints} in {environment.zones} zones; those of S3 and DynamoDB are free",
        ),
        _network(
            "through the interface endpoints",
            ENDPOINT_GB_OF_A_NODE * nodes + sent,
            "interface-endpoint-gb",
            f"{_a_node(ENDPOINT_GB_OF_A_NODE, nodes)}, and the log events",
        ),
    ]
    serving = sum(fleet.purpose is Purpose.INFERENCE for fleet in environment.fleets)
    if serving:
        hours = Spread.certain(serving * HOURS)
        lines.append(_network("load balancers", hours, "alb-hour", f"{serving}, one for each endpoint"))
        units = f"{LCUS.low:g}, {LCUS.expected:g}, {LCUS.high:g} capacity units on average; 1 is 1 GB an hour"
        lines.append(_network("load balancers' capacity", LCUS * (serving * HOURS), "lcu-hour", units))
    if environment.public_balancers:
        lines.append(_public_addresses(environment))
    return lines


def _public_addresses(environment: EnvironmentShape) -> Line:
    each, count = ADDRESSES_OF_A_BALANCER_AND_ZONE, environment.public_balancers
    because = f"{each.low:g} to {each.high:g} in each of {environment.zones} zones, for {count} public load balancers"
    hours = each * (count * environment.zones * HOURS)
    return _network("addresses of the public load balancers", hours, "public-ipv4-hour", because)


def _a_node(each: Spread, nodes: int) -> str:
    return f"{each.low:g}, {each.expected:g}, {each.high:g} GB for each of {nodes} nodes"


# The launch template's root volume.
ROOT_VOLUME_GB: Final = 256
# A large model's graphs are some tens of GB; versions of them and of the compiler pile up until they are evicted.
CACHE_GB: Final = Spread(10, 50, 500)
# What each node fetches from the shared tier: once a start or a new version.
FETCHED_GB_OF_A_NODE: Final = Spread(1, 10, 100)
ACCESS_LOG_GB: Final = Spread(0.1, 1, 50)
ACCESS_LOG_DAYS: Final = 90
_storage = partial(priced_line, Group.STORAGE)


def storage_lines(environment: EnvironmentShape, use: Use) -> list[Line]:
    """EFS, EBS and S3."""
    fetched = FETCHED_GB_OF_A_NODE * environment.nodes
    each = f"{FETCHED_GB_OF_A_NODE.low:g}, {FETCHED_GB_OF_A_NODE.expected:g}, {FETCHED_GB_OF_A_NODE.high:g} GB"
    kept = f"{CACHE_GB.low:g}, {CACHE_GB.expected:g}, {CACHE_GB.high:g} GB, none of it moved to Infrequent Access"
    stopped = sum(fleet.stopped_nodes for fleet in environment.fleets)
    beside = f"; {stopped} stopped ones, all month" if stopped else ""
    lines = [
        _storage("compile cache, EFS", CACHE_GB, "efs-gb-month", kept),
        _storage("compile cache, read", fetched, "efs-read-gb", f"{each} for each of {environment.nodes} nodes"),
        _storage("compile cache, written", CACHE_GB, "efs-write-gb", "all of it once"),
        _storage(
            "root volumes",
            _volumes(environment, use),
            "ebs-gp3-gb-month",
            f"{ROOT_VOLUME_GB} GiB while a node runs{beside}",
        ),
    ]
    serving = sum(fleet.purpose is Purpose.INFERENCE for fleet in environment.fleets)
    if serving:
        months = ACCESS_LOG_DAYS / 30
        because = f"{ACCESS_LOG_GB.expected:g} GB a month for each endpoint, kept for {ACCESS_LOG_DAYS} days"
        lines.append(_storage("access logs, S3", ACCESS_LOG_GB * (serving * months), "s3-gb-month", because))
    return lines


def _volumes(environment: EnvironmentShape, use: Use) -> Spread:
    volumes = NOTHING
    for fleet in environment.fleets:
        share = running_hours(fleet, use) * (1 / HOURS)
        # EBS counts a GiB as a GB. A node's volume goes with it.
        volumes += share * (fleet.nodes * ROOT_VOLUME_GB)
        # EC2 bills nothing for a stopped instance but its volumes.
        volumes += Spread.certain(fleet.stopped_nodes * ROOT_VOLUME_GB)
    return volumes


MEMORY_GB: Final = 0.25
# Looks of a clock each minute; pages and tickets as they come.
PAGES: Final = Spread(20, 200, 5_000)
_CALLS: Final = {
    Function.PAGER: PAGES,
    Function.CAPACITY_WATCH: Spread.certain(MINUTES),
    Function.CAPACITY_BLOCKS: Spread.certain(MINUTES),
    Function.POOLS: Spread.certain(MINUTES),
    # Two for each model version, and one more for each ten minutes that another execution is waited for.
    Function.PRECOMPILE: Spread(0, 20, 200),
    Function.PRICES: Spread.certain(31),
    Function.LEDGER: Spread.certain(HOURS),
    # Every hour, and once a day for the digest.
    Function.BUDGETS: Spread.certain(HOURS + 31),
    # ROLLOUTS_OF_AN_ENDPOINT, and a look each minute or two.
    Function.ROLLOUT: Spread(0, 400, 3_000),
}
# A look asks EC2, Batch and CloudWatch some ten times; a page waits up to five seconds for the log query.
_SECONDS: Final = {
    Function.PAGER: Spread(2, 6, 12),
    Function.CAPACITY_WATCH: Spread(1, 3, 15),
    Function.CAPACITY_BLOCKS: Spread(0.5, 1.5, 10),
    Function.POOLS: Spread(1, 3, 15),
    Function.PRECOMPILE: Spread(1, 3, 20),
    Function.PRICES: Spread(20, 60, 300),
    Function.LEDGER: Spread(5, 20, 120),
    Function.BUDGETS: Spread(2, 6, 60),
    Function.ROLLOUT: Spread(1, 3, 20),
}
_MEMORY_GB: Final = {Function.LEDGER: 3008 / 1024}
# These read a table of their own at every look.
_LOOKING: Final = frozenset({Function.CAPACITY_BLOCKS, Function.POOLS})
ROLLOUTS_OF_AN_ENDPOINT: Final = Spread(0, 4, 30)
TRANSITIONS_OF_A_ROLLOUT: Final = 100
_function = partial(priced_line, Group.FUNCTIONS)


def function_lines(environment: EnvironmentShape) -> list[Line]:
    """Invocations, their duration, the tables behind them, and the rollouts of endpoints.

    Nothing is taken off for the free tier, which the whole account shares.
    """
    calls, seconds = NOTHING, NOTHING
    for function in environment.functions:
        made, lasts = _CALLS[function], _SECONDS[function]
        calls += made
        seconds += made.times(lasts) * _MEMORY_GB.get(function, MEMORY_GB)
    names = ", ".join(environment.functions)
    lines = [
        _function("Lambda, invocations", calls, "lambda-request", f"{names}: clocks by the minute, pages as they come"),
        _function(
            "Lambda, duration", seconds, "lambda-arm-gb-second", f"{MEMORY_GB * 1024:g} MB each, the ledger's 3,008"
        ),
    ]
    if environment.tables:
        # The pager takes and marks each page; nodes and the watch read prices too seldom to count.
        reads = Spread.certain(MINUTES * len(_LOOKING.intersection(environment.functions))) + PAGES
        lines.append(_function("DynamoDB, writes", PAGES * 2, "dynamodb-write", "two for each page"))
        lines.append(_function("DynamoDB, reads", reads, "dynamodb-read", f"{environment.tables} small tables"))
    serving = sum(fleet.purpose is Purpose.INFERENCE for fleet in environment.fleets)
    if serving:
        transitions = ROLLOUTS_OF_AN_ENDPOINT * (serving * TRANSITIONS_OF_A_ROLLOUT)
        because = (
            f"{ROLLOUTS_OF_AN_ENDPOINT.low:g}, {ROLLOUTS_OF_AN_ENDPOINT.expected:g}, "
            f"{ROLLOUTS_OF_AN_ENDPOINT.high:g} rollouts an endpoint of {TRANSITIONS_OF_A_ROLLOUT} steps"
        )
        lines.append(_function("Step Functions, rollouts", transitions, "step-functions-transition", because))
    return lines

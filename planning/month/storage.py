"""What is kept: the compile cache, the nodes' root volumes, the access logs of endpoints."""

from typing import Final

from fleet.fleet_spec import Purpose
from planning.month.capacity import running_hours
from planning.month.line import NOTHING, Group, Line, Spread, priced_line
from planning.month.prices import HOURS
from planning.month.shape import EnvironmentShape, Use

# The launch template's root volume.
ROOT_VOLUME_GB: Final = 256
# A large model's graphs are some tens of GB; versions of them and of the compiler pile up until they are evicted.
CACHE_GB: Final = Spread(10, 50, 500)
# What each node fetches from the shared tier: once a start or a new version.
FETCHED_GB_OF_A_NODE: Final = Spread(1, 10, 100)
ACCESS_LOG_GB: Final = Spread(0.1, 1, 50)
ACCESS_LOG_DAYS: Final = 90


def storage_lines(environment: EnvironmentShape, use: Use) -> list[Line]:
    """EFS, EBS and S3."""
    fetched = FETCHED_GB_OF_A_NODE * environment.nodes
    each = f"{FETCHED_GB_OF_A_NODE.low:g}, {FETCHED_GB_OF_A_NODE.expected:g}, {FETCHED_GB_OF_A_NODE.high:g} GB"
    kept = f"{CACHE_GB.low:g}, {CACHE_GB.expected:g}, {CACHE_GB.high:g} GB, none of it moved to Infrequent Access"
    stopped = sum(fleet.stopped_nodes for fleet in environment.fleets)
    beside = f"; {stopped} stopped ones, all month" if stopped else ""
    lines = [
        _line("compile cache, EFS", CACHE_GB, "efs-gb-month", kept),
        _line("compile cache, read", fetched, "efs-read-gb", f"{each} for each of {environment.nodes} nodes"),
        _line("compile cache, written", CACHE_GB, "efs-write-gb", "all of it once"),
        _line(
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
        lines.append(_line("access logs, S3", ACCESS_LOG_GB * (serving * months), "s3-gb-month", because))
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


def _line(what: str, quantity: Spread, price: str, because: str) -> Line:
    return priced_line(Group.STORAGE, what, quantity, price, because)

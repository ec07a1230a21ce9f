"""Does EC2 offer the fleet's instance type where its nodes are to lie, today?"""

from collections.abc import Collection, Iterator

from fleet.capacity import LaunchPlan
from fleet.diagnostics import Diagnostic, refuse, warn


def diagnose_offering(plan: LaunchPlan, offered: Collection[str]) -> Iterator[Diagnostic]:
    """Findings about the zones of ``plan``; ``offered`` are the ids of the zones that offer its type.

    EC2 DescribeInstanceTypeOfferings by availability-zone-id. The catalogue has the same with a date; a type may have
    left a zone since.
    """
    missing = [zone for zone in plan.zone_ids if zone not in offered]
    if not missing:
        return
    name = plan.instance_type.name
    where = f"EC2 offers it in {', '.join(sorted(offered))}" if offered else "EC2 offers it in no zone of the region"
    if len(missing) == len(plan.zone_ids):
        yield refuse(
            "not-offered-in-zone",
            "instance_type",
            name,
            f"EC2 does not offer {name} in {', '.join(missing)} to this account",
            f"{where}: move the fleet, or choose another type",
        )
    else:
        yield warn(
            "offered-in-fewer-zones",
            "instance_type",
            name,
            f"EC2 does not offer {name} in {', '.join(missing)} to this account: launches there fail",
            where,
        )

"""What CloudWatch knows of an Auto Scaling group that collects its metrics: the names that policies and alarms share.

Source: "Amazon CloudWatch metrics for Amazon EC2 Auto Scaling" of its user guide. AWS publishes them itself, once a
minute and for an empty group too, and bills nothing for them. Those of a warm pool have names of their own, so that no
stopped node is in these.
"""

from typing import Final

NAMESPACE: Final = "AWS/AutoScaling"
GROUP: Final = "AutoScalingGroupName"

DESIRED: Final = "GroupDesiredCapacity"
IN_SERVICE: Final = "GroupInServiceInstances"
"""Nodes that EC2 has started: their tasks may be loading still."""
COLLECTED: Final = (DESIRED, IN_SERVICE)


def dimensions(group: str) -> tuple[tuple[str, str], ...]:
    """Those of one group, by its name."""
    return ((GROUP, group),)

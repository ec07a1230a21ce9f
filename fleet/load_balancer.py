"""What CloudWatch knows of an Application Load Balancer: the names that endpoint alarms and dashboards share.

Source: "CloudWatch metrics for your Application Load Balancer" of the Elastic Load Balancing user guide. AWS publishes
these counters itself, once per minute, so their Sum can be trusted.
"""

from dataclasses import dataclass
from typing import Final

NAMESPACE: Final = "AWS/ApplicationELB"

LOAD_BALANCER: Final = "LoadBalancer"
TARGET_GROUP: Final = "TargetGroup"

REQUEST_COUNT: Final = "RequestCount"
TARGET_CONNECTION_ERRORS: Final = "TargetConnectionErrorCount"
TARGET_5XX: Final = "HTTPCode_Target_5XX_Count"
BALANCER_5XX: Final = "HTTPCode_ELB_5XX_Count"
BALANCER_503: Final = "HTTPCode_ELB_503_Count"
"""Among others, what the target group had no target for: "Troubleshoot your Application Load Balancers", HTTP 503."""
TARGET_RESPONSE_TIME: Final = "TargetResponseTime"
HEALTHY_HOST_COUNT: Final = "HealthyHostCount"
UNHEALTHY_HOST_COUNT: Final = "UnHealthyHostCount"

# The balancer answers these itself, so no target group is named with them.
_WITHOUT_TARGET_GROUP: Final = frozenset({BALANCER_5XX, BALANCER_503})


@dataclass(frozen=True, slots=True)
class EndpointNames:
    """Full names as CloudWatch spells them: ``app/chat/50dc6c495c0c9188`` and ``targetgroup/chat/943f017f100becff``."""

    load_balancer: str
    target_group: str
    node_group: str = ""
    """The Auto Scaling group of its nodes, whose metrics are collected where the endpoint scales."""

    @property
    def every_target(self) -> tuple[tuple[str, str], ...]:
        """The dimensions of what all target groups of the load balancer do together."""
        return ((LOAD_BALANCER, self.load_balancer),)

    def dimensions(self, metric: str) -> tuple[tuple[str, str], ...]:
        """The dimensions that AWS publishes ``metric`` with."""
        balancer = (LOAD_BALANCER, self.load_balancer)
        return (balancer,) if metric in _WITHOUT_TARGET_GROUP else (balancer, (TARGET_GROUP, self.target_group))

    @property
    def both_sides(self) -> tuple[tuple[str, str], ...]:
        """The dimensions of what all its target groups do together: of both sides of a rollout."""
        return ((LOAD_BALANCER, self.load_balancer),)

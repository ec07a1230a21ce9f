"""Where one endpoint is served, as deployed: what a rollout looks at and acts on."""

from dataclasses import dataclass
from typing import Any

from fleet.load_balancer import EndpointNames
from fleet.rollout.plan import Plan


@dataclass(frozen=True, slots=True)
class SidePlace:
    """One side: its ECS service, its target group by ARN, and its Auto Scaling group by name."""

    cluster: str
    service: str
    target_group: str
    group: str
    names: EndpointNames
    """What CloudWatch calls its load balancer and target group."""


@dataclass(frozen=True, slots=True)
class HostedPlace:
    """An endpoint that SageMaker runs. ``declared`` is the SSM parameter with the model that was deployed last.

    ``model`` is what CreateModel is asked for beside a name, ``variant`` what every variant is configured with beside
    its name, model, count and weight, in SageMaker's own keys; ``key`` encrypts its volumes.
    """

    endpoint: str
    declared: str
    model: dict[str, Any]
    variant: dict[str, Any]
    key: str
    tags: dict[str, str]


@dataclass(frozen=True, slots=True)
class RolloutPlace:
    """One endpoint. ``rule`` is the ARN of the listener's rule that holds the weights.

    ``family`` is that of the task definitions that deployments register; ``container`` the container in them that
    serves; ``version_parameter`` the SSM parameter from which a deployment reads what the stable side runs.
    ``artifact`` is the folder of the compiled graphs that the endpoint declares; empty where it declares none.
    """

    environment: str
    fleet: str
    nodes: int
    rule: str
    stable: SidePlace
    candidate: SidePlace
    family: str
    container: str
    version_parameter: str
    plan: Plan
    artifact: str = ""
    shadow_bucket: str = ""
    """Where recorded requests and reports lie; empty where the plan asks for none."""
    scales: bool = False
    """Whether the stable side's nodes follow the load, when there is no rollout."""
    hosted: HostedPlace | None = None
    """Of an endpoint that SageMaker runs. Its sides are variants: ``cluster`` is the endpoint, ``service`` the variant,
    and there is no rule, target group, group or container."""

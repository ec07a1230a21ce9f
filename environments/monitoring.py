"""What an environment file says of measuring: how often, for how long, and for whom besides CloudWatch."""

from ipaddress import IPv4Address
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from environments.strict_model import StrictModel


class Prometheus(StrictModel):
    """Where every node serves ``/metrics``. Whoever reaches the address can read it: docs/prometheus.md."""

    port: Annotated[int, Field(ge=1024, le=65535)]
    address: IPv4Address = IPv4Address("127.0.0.1")
    """The node's own loopback address, or 0.0.0.0 for scrapers elsewhere, which the security groups must let in."""


class Monitoring(StrictModel):
    """How the agents measure, and who is shown what besides CloudWatch's metrics and logs."""

    period_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    log_retention_days: Literal[7, 14, 30, 90, 365] = 30
    prometheus: Prometheus | None = None
    otlp: bool | Literal["rules", "nodes", "cores"] = False
    """What goes to CloudWatch's OTLP endpoint, where it is billed by the byte: what the rules of alarms read, what
    nodes and jobs do, or all that cores do, which is true too. Default: nothing."""
    alarms: Literal["classic", "promql"] = "classic"
    """Whether a fleet's alarms follow each of its jobs and nodes, in PromQL over what goes to the OTLP endpoint, or
    are one for each fleet and kind. Default: classic, which every region has."""
    endpoint_dashboards: bool = False
    """Whether each endpoint has a dashboard of its own, at CloudWatch's $3 a month beyond an account's first three;
    ``inference`` is then a row of each. Default: a section of each there."""
    cloudwatch_usd_per_month: Annotated[float, Field(gt=0)] | None = None
    """What CloudWatch may cost; synthesis warns when more is expected. Default: whatever it costs."""

    @field_validator("alarms")
    @classmethod
    def _rules_have_series(cls, alarms: str, info: ValidationInfo) -> str:
        if alarms == "promql" and not info.data.get("otlp"):
            raise ValueError("it reads what goes over OTLP; set monitoring.otlp to rules, nodes or cores")
        return alarms

    @property
    def otlp_level(self) -> Literal["rules", "nodes", "cores"] | None:
        """How much goes there; None is nothing."""
        if isinstance(self.otlp, bool):
            return "cores" if self.otlp else None
        return self.otlp

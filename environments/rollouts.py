"""How a new version of an endpoint takes over, as an environment's file says it."""

from typing import Annotated

from pydantic import Field, field_validator

from environments.strict_model import StrictModel
from fleet.rollout.plan import DEFAULT_STEPS, Gates, Plan
from fleet.shadow.comparison import DEFAULT_COSINE
from fleet.shadow.gate import ShadowGate


class RolloutGates(StrictModel):
    """What a new version must keep to; null: this is not judged. ``fleet.rollout.plan`` says what each is."""

    error_percent: Annotated[float, Field(gt=0, lt=100)] | None = 1.0
    latency_ratio: Annotated[float, Field(gt=1)] | None = 1.5
    latency_slack_seconds: Annotated[float, Field(ge=0)] = 0.05
    runtime_errors: Annotated[int, Field(ge=0)] | None = 0
    cost_increase_percent: Annotated[float, Field(gt=0)] | None = None
    alarms: tuple[str, ...] = Gates().alarms


class Shadow(StrictModel):
    """Recorded requests, which a new version answers before it is given any: docs/shadow.md.

    ``fleet.shadow.gate`` says what the limits are; null: this is not judged.
    """

    sample_percent: Annotated[float, Field(gt=0, le=100)] = 5.0
    """Of the requests that the stable side answers, those that are kept with their prompts."""
    keep_days: Annotated[int, Field(ge=1, le=30)] = 1
    min_requests: Annotated[int, Field(ge=1, le=1000)] = 100
    """The newest of them are asked again, twice as many as this where there are so many."""
    equal_percent: Annotated[float, Field(gt=0, le=100)] | None = 99.0
    cosine: Annotated[float, Field(gt=0, le=1)] = DEFAULT_COSINE
    """From which on two embeddings are equal."""
    failed_percent: Annotated[float, Field(ge=0, lt=100)] | None = 1.0
    latency_ratio: Annotated[float, Field(gt=1)] | None = 1.5
    latency_slack_seconds: Annotated[float, Field(ge=0)] = 0.05
    minutes: Annotated[float, Field(gt=0, le=1440)] = 30.0

    def gate(self) -> ShadowGate:
        """As the domain has it."""
        return ShadowGate(**self.model_dump(exclude={"sample_percent", "keep_days", "cosine"}))


class Rollout(StrictModel):
    """How a new version of an endpoint takes over: docs/rollout.md."""

    steps: Annotated[tuple[int, ...], Field(min_length=1, max_length=20)] = DEFAULT_STEPS
    """Percent of the requests that go to it, rising to 100."""
    bake_minutes: Annotated[float, Field(gt=0, le=1440)] = 10.0
    min_requests: Annotated[int, Field(ge=1)] = 300
    gates: RolloutGates = RolloutGates()
    shadow: Shadow | None = None
    artifact_minutes: Annotated[float, Field(ge=0, le=1440)] = 60.0
    ready_minutes: Annotated[float, Field(gt=0, le=1440)] = 90.0
    traffic_minutes: Annotated[float, Field(gt=0, le=1440)] = 60.0
    pause_hours: Annotated[float, Field(gt=0, le=24)] = 12.0
    promotion_minutes: Annotated[float, Field(gt=0, le=1440)] = 240.0
    drain_seconds: Annotated[float, Field(ge=0, le=3600)] = 150.0
    look_seconds: Annotated[int, Field(ge=1, le=60)] = 30

    @field_validator("steps")
    @classmethod
    def _can_be_followed(cls, steps: tuple[int, ...]) -> tuple[int, ...]:
        return Plan(steps=steps).steps

    def plan(self) -> Plan:
        """As the domain has it."""
        gates = Gates(**self.gates.model_dump())
        shadow = self.shadow.gate() if self.shadow else None
        return Plan(**self.model_dump(exclude={"gates", "shadow"}), gates=gates, shadow=shadow)

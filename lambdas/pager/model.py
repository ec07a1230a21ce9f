"""What comes in: a CloudWatch alarm's SNS message, the agents' node events and the capacity watch's events.

Unknown fields are ignored.
"""

from datetime import UTC
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

# How the subject or the first line of a letter of AWS Budgets begins.
_BUDGETS: Final = "AWS Budget"


class State(StrEnum):
    """An alarm's state, in CloudWatch's spelling."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


class Severity(StrEnum):
    """Whether somebody is woken up."""

    PAGE = "page"
    TICKET = "ticket"


class _In(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class AlarmChange(_In):
    """One transition of a metric alarm or a composite alarm, as CloudWatch sends it to SNS.

    Both kinds share these fields; a metric alarm adds ``Trigger``, a composite ``AlarmRule`` and its children.
    """

    name: str = Field(alias="AlarmName")
    arn: str = Field(alias="AlarmArn")
    description: Annotated[str, BeforeValidator(lambda text: text or "")] = Field(default="", alias="AlarmDescription")
    state: State = Field(alias="NewStateValue")
    old_state: State = Field(alias="OldStateValue")
    reason: str = Field(default="", alias="NewStateReason")
    changed_at: AwareDatetime = Field(alias="StateChangeTime")

    @property
    def region(self) -> str:
        """The region's code; the message's own ``Region`` is a display name."""
        return self.arn.split(":")[3]

    @property
    def changed_at_text(self) -> str:
        """UTC with milliseconds, so that texts sort as times do."""
        return self.changed_at.astimezone(UTC).isoformat(timespec="milliseconds")


class Notice(_In):
    """What a function of the platform tells people, on the same topics as alarms. ``key`` makes it one message."""

    key: str = Field(alias="notice_key")
    subject: str
    body: str


class SnsMessage(_In):
    """The part of an SNS record that matters here."""

    topic_arn: str = Field(alias="TopicArn")
    message: str = Field(alias="Message")
    message_id: str = Field(default="", alias="MessageId")
    subject: Annotated[str, BeforeValidator(lambda text: text or "")] = Field(default="", alias="Subject")

    @property
    def severity(self) -> Severity:
        """The topic decides: only a topic that calls itself a ticket topic does not wake anybody."""
        topic = self.topic_arn.rpartition(":")[2].lower()
        return Severity.TICKET if "ticket" in topic else Severity.PAGE

    @property
    def budget_notice(self) -> Notice | None:
        """What AWS Budgets says, which is a letter and no JSON; None for anything else.

        Source: Cost Management user guide, "Creating an Amazon SNS topic for budget notifications".
        """
        first_line = self.message.lstrip().partition("\n")[0]
        if self.severity is not Severity.TICKET or _BUDGETS not in f"{self.subject}\n{first_line}":
            return None
        subject = self.subject if _BUDGETS in self.subject else first_line
        return Notice(key=f"aws-budgets:{self.message_id or subject}", subject=subject, body=self.message)


class SnsRecord(_In):
    """One record of the Lambda event."""

    sns: SnsMessage = Field(alias="Sns")


class SnsEvent(_In):
    """The Lambda event of an SNS subscription."""

    records: tuple[SnsRecord, ...] = Field(alias="Records")


class Price(_In):
    """What an hour of a node costs, and how old and how sure that is."""

    usd_per_hour: float
    kind: str
    source: str
    as_of: str


class SeenError(_In):
    """A hardware error that a node reported in a minute."""

    kind: str
    action: str
    device: int | None = None


class JobPart(_In):
    """One job's part of a node in a minute."""

    job: str | None = None
    job_name: str | None = None
    owner: str | None = None
    neuron_core_utilization: float | None = None
    cost_usd_per_hour: float | None = None
    wasted_usd_per_hour: float | None = None
    non_finite_losses: float | None = None


class NodeEvent(_In):
    """One node's minute. A figure that was not measured is None and never zero."""

    node: str
    minute: AwareDatetime
    seq: int
    boot_id: str = ""
    state: str
    state_reason: str | None = None
    instance_type: str | None = None
    job: str | None = None
    job_name: str | None = None
    owner: str | None = None
    tensor_engine_utilization: float | None = None
    neuron_core_utilization: float | None = None
    cost_usd_per_hour: float | None = None
    wasted_usd_per_hour: float | None = None
    price: Price | None = None
    hardware_errors: tuple[SeenError, ...] = ()
    jobs: tuple[JobPart, ...] = ()


class SeenReservation(_In):
    """A reservation or Capacity Block of a fleet, as EC2 showed it in a minute."""

    id: str
    state: str
    total: int | None = None
    available: int | None = None
    ends_at: AwareDatetime | None = None


class CapacityEvent(_In):
    """One fleet's minute, as the capacity watch saw it. What is not known is None and never zero.

    ``reason`` says why nodes are missing and quotes AWS, ``action`` what a person should do about it.
    """

    minute: AwareDatetime
    wanted: int | None = None
    reserved: int | None = None
    used: int | None = None
    unused: int | None = None
    missing: int | None = None
    reason: str | None = None
    action: str | None = None
    owner: str | None = None
    instance_type: str | None = None
    market: str | None = None
    reservations: tuple[SeenReservation, ...] = ()
    price: Price | None = None
    price_stale: str | None = None
    """Why the fleet's price is not to be relied on."""
    unused_usd_per_hour: float | None = None
    interrupted: tuple[str, ...] = ()
    """Instances that EC2 said lately that it takes back; ``reason`` names them."""

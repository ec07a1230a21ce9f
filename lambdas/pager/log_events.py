"""What is looked up in the logs: the agents' node events and the capacity watch's events. Unknown fields are ignored.

Of a fleet with more nodes than a query returns events for, a row for each node and state is read, and made into events
again: its first and last minute stand for the minutes between them, which the row does not tell of.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, ValidationError

from lambdas.pager.errors import EnrichmentError, reason
from lambdas.pager.outside_text import NAME, one_line
from lambdas.shared.log_query import LogQuery, LogQueryError, Ticker

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient

POLL_SECONDS: Final = 0.2
# Logs Insights returns at most 10,000 rows: 2,000 nodes in five states each.
ROWS: Final = 10_000
_NEWEST: Final = (
    "state_reason",
    "instance_type",
    "job",
    "job_name",
    "owner",
    "tensor_engine_utilization",
    "neuron_core_utilization",
    "cost_usd_per_hour",
    "wasted_usd_per_hour",
    "price.usd_per_hour",
    "price.kind",
    "price.source",
    "price.as_of",
    "hardware_errors.0.kind",
    "hardware_errors.0.action",
    "hardware_errors.0.device",
)

# Only people read them: in the line of the dollars, which they must not fill.
Words = Annotated[str, AfterValidator(partial(one_line, limit=NAME))]
Event = TypeVar("Event", bound=BaseModel)
Rows = Sequence[Mapping[str, str]]


class _In(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Price(_In):
    """What an hour of a node costs, and how old and how sure that is."""

    usd_per_hour: float
    kind: Words
    source: Words
    as_of: Words


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
    vain_runs: int | None = None


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


def events_of(model: type[Event]) -> Callable[[Rows], list[Event]]:
    """Reads rows that hold whole events; a line that is none of the model's is left out."""

    def read(rows: Rows) -> list[Event]:
        return [event for row in rows if (event := _event(model, row)) is not None]

    return read


class EventQuery(Generic[Event]):
    """Reads the events of one log group with one Logs Insights query, within ``budget`` seconds."""

    def __init__(
        self,
        logs: "CloudWatchLogsClient",
        log_group: str,
        events: Callable[[Rows], list[Event]],
        ticker: Ticker,
        budget: float = 5.0,
    ) -> None:
        self._query = LogQuery(logs, log_group, ticker, budget=budget, pause=POLL_SECONDS)
        self._events = events

    def read(self, query: str, start: datetime, end: datetime) -> list[Event]:
        """The events of [start, end] that ``query`` finds.

        Raises:
            EnrichmentError: the query could not be started, failed, or took longer than the budget.
        """
        try:
            rows = self._query.rows(query, start, end)
        except LogQueryError as error:
            raise EnrichmentError(str(error)) from error
        except (BotoCoreError, ClientError) as error:
            raise EnrichmentError(f"the log query failed ({reason(error)})") from error
        return self._events(rows)


def _event(model: type[Event], row: Mapping[str, str]) -> Event | None:
    try:
        return model.model_validate_json(row.get("@message", ""))
    except ValidationError:
        return None


def states_query(fleet: str) -> str:
    """Each node's states in the window: from when to when, and the newest of what was said in each."""
    newest = ", ".join(f"latest({field}) as {_column(field)}" for field in _NEWEST)
    return (
        f'filter fleet = "{fleet}" | stats earliest(minute) as first_minute, latest(minute) as last_minute, {newest} '
        f"by node, state | sort last_minute desc | limit {ROWS}"
    )


def events_of_states(rows: Rows) -> list[NodeEvent]:
    """The first and the last event of each row; a row that is none is left out."""
    return [event for row in rows for event in _events(row)]


def _column(field: str) -> str:
    return field.replace(".", "_")


def _events(row: Mapping[str, str]) -> Iterator[NodeEvent]:
    fields: dict[str, Any] = {name: row[name] for name in _NEWEST if "." not in name and row.get(name)}
    price = _under(row, "price")
    error = _under(row, "hardware_errors_0")
    # A price of which a part is missing would be another price.
    fields["price"] = price if len(price) == 4 else None
    fields["hardware_errors"] = [error] if {"kind", "action"} <= set(error) else []
    for seq, minute in enumerate(dict.fromkeys((row.get("first_minute"), row.get("last_minute")))):
        try:
            yield NodeEvent.model_validate(
                {**fields, "node": row.get("node"), "state": row.get("state"), "minute": minute, "seq": seq}
            )
        except ValidationError:
            continue


def _under(row: Mapping[str, str], prefix: str) -> dict[str, str]:
    start = f"{prefix}_"
    return {name.removeprefix(start): text for name, text in row.items() if name.startswith(start) and text}

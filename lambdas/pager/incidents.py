"""One incident from ALARM to OK, whatever order its messages arrive in, and the table that remembers them.

Every transition that was ever seen of an alarm, or of one job that an alarm follows, is kept as a set, in one DynamoDB
item: a set does not care about order or repetition, and two notifications at once add to it alike. Which incident a
transition belongs to is read off the set each time.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.pager.contributors import Spell, together_with
from lambdas.pager.errors import IncidentStoreError, reason
from lambdas.pager.messages import AlarmChange, State

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, UpdateItemOutputTypeDef

# Lambda repeats an SNS delivery for up to 23 days before it gives up.
REMEMBER: Final = timedelta(days=24)
# An item holds 400 KB; an alarm that changes so often has long been looked at.
TRANSITIONS_KEPT: Final = 400


@dataclass(frozen=True, slots=True, order=True)
class Transition:
    """A change of an alarm's state, as its message told it."""

    changed_at: datetime
    state: State
    old_state: State
    contributor: str = ""

    @property
    def opens(self) -> bool:
        """Whether an incident begins here: from missing data back to ALARM it is the same one."""
        return self.state is State.ALARM and self.old_state is State.OK


@dataclass(frozen=True, slots=True)
class Incident:
    """``alarms`` are the moments of its ALARMs that were seen, the first one first; none for an OK without any.

    ``ended_at`` is the moment of its OK; ``is_over`` may be known without it, by a later incident. Contributors that
    began together are one incident, which is over when all of them are. ``is_certain`` is False when nothing could be
    remembered: then an incident may be open that nobody knows of.
    """

    alarms: tuple[datetime, ...]
    ended_at: datetime | None = None
    is_over: bool = False
    is_certain: bool = True

    @property
    def opened_at(self) -> datetime | None:
        """When it began, if that was seen."""
        return self.alarms[0] if self.alarms else None


def transition_of(change: AlarmChange) -> Transition:
    """The part of a message that is remembered."""
    return Transition(change.changed_at, change.state, change.old_state, change.contributor)


def incident_of(change: AlarmChange, known: Iterable[Transition]) -> Incident:
    """The incident that ``change`` belongs to, given what is known, ``change`` itself or not."""
    here = transition_of(change)
    by_contributor: dict[str, list[Transition]] = {}
    for each in sorted({*known, here}):
        by_contributor.setdefault(each.contributor, []).append(each)
    alone = _alone(here, by_contributor[here.contributor])
    if not here.contributor or not alone.alarms:
        return alone
    spells = [
        _spell(each, own) for own in by_contributor.values() for each in own if each.contributor and _is_alarm(each)
    ]
    group = together_with(_spell(here, by_contributor[here.contributor]), spells)
    ends = [spell.ended_at for spell in group if spell.ended_at]
    return Incident(
        tuple(sorted({alarm for spell in group for alarm in spell.alarms})),
        max(ends) if len(ends) == len(group) else None,
        is_over=all(spell.is_over for spell in group),
    )


def _is_alarm(transition: Transition) -> bool:
    return transition.state is State.ALARM


def _spell(here: Transition, own: list[Transition]) -> Spell:
    incident = _alone(here, own)
    return Spell(here.contributor, incident.alarms, incident.ended_at, incident.is_over)


def _alone(here: Transition, ordered: list[Transition]) -> Incident:
    position = ordered.index(here)
    if here.state is State.OK:
        return Incident(_run_before(ordered[:position]), here.changed_at, is_over=True)
    earlier = () if here.opens else _run_before(ordered[:position])
    later = ordered[position + 1 :]
    same = tuple(takewhile(lambda each: each.state is State.ALARM and not each.opens, later))
    after = later[len(same) : len(same) + 1]
    ended_at = after[0].changed_at if after and after[0].state is State.OK else None
    alarms = (*earlier, here.changed_at, *(each.changed_at for each in same))
    return Incident(alarms, ended_at, is_over=bool(after))


def _run_before(before: list[Transition]) -> tuple[datetime, ...]:
    """The ALARMs at the end of ``before``, back to the one that opened their incident."""
    run: list[datetime] = []
    for each in reversed(before):
        if each.state is not State.ALARM:
            break
        run.append(each.changed_at)
        if each.opens:
            break
    return tuple(reversed(run))


class IncidentTable:
    """Every alarm's transitions, in the table that also holds the idempotency records."""

    def __init__(self, dynamodb: "DynamoDBClient", table: str, now: Callable[[], float]) -> None:
        self._client, self._table, self._now = dynamodb, table, now

    def record(self, change: AlarmChange) -> frozenset[Transition]:
        """Remember ``change``; everything that is known of its alarm then, ``change`` among it.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        written = self._update(
            change, "ADD #transitions :these SET #expiration = :until", [_text(transition_of(change))]
        )
        if change.contributor:
            self._note_contributor(change)
        known = sorted(map(_transition, written["Attributes"]["transitions"]["SS"]))
        if len(known) > TRANSITIONS_KEPT:
            oldest = known[: -TRANSITIONS_KEPT // 2]
            self._update(
                change, "DELETE #transitions :these SET #expiration = :until", [_text(each) for each in oldest]
            )
        return frozenset(known)

    def contributor_heard(self, change: AlarmChange, within: timedelta) -> bool:
        """Whether a contributor of the alarm has changed within a time of ``change``, which is the alarm's own.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        try:
            found = self._client.get_item(TableName=self._table, Key={"id": {"S": f"contributors#{change.arn}"}})
        except (BotoCoreError, ClientError) as error:
            raise IncidentStoreError(f"table {self._table} cannot be read ({reason(error)})") from error
        heard = found.get("Item", {}).get("changed_at")
        return heard is not None and abs(datetime.fromisoformat(heard["S"]) - change.changed_at) < within

    def _note_contributor(self, change: AlarmChange) -> None:
        until = str(int(self._now() + REMEMBER.total_seconds()))
        item: Mapping[str, AttributeValueTypeDef] = {
            "id": {"S": f"contributors#{change.arn}"},
            "changed_at": {"S": change.changed_at.astimezone(UTC).isoformat()},
            "expiration": {"N": until},
        }
        self._put(item)

    def report(self, key: str, results: Mapping[str, str]) -> None:
        """Keep, for whoever asked for a test, what became of it at each destination, for a day.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        item: Mapping[str, AttributeValueTypeDef] = {
            "id": {"S": key},
            "results": {"M": {name: {"S": text} for name, text in results.items()}},
            "expiration": {"N": str(int(self._now() + timedelta(days=1).total_seconds()))},
        }
        self._put(item)

    def _put(self, item: "Mapping[str, AttributeValueTypeDef]") -> None:
        try:
            self._client.put_item(TableName=self._table, Item=item)
        except (BotoCoreError, ClientError) as error:
            raise IncidentStoreError(f"table {self._table} cannot be written ({reason(error)})") from error

    def _update(self, change: AlarmChange, expression: str, transitions: list[str]) -> "UpdateItemOutputTypeDef":
        until = str(int(self._now() + REMEMBER.total_seconds()))
        try:
            return self._client.update_item(
                TableName=self._table,
                Key={"id": {"S": f"incident#{change.identity}"}},
                UpdateExpression=expression,
                ExpressionAttributeNames={"#transitions": "transitions", "#expiration": "expiration"},
                ExpressionAttributeValues={":these": {"SS": transitions}, ":until": {"N": until}},
                ReturnValues="ALL_NEW",
            )
        except (BotoCoreError, ClientError) as error:
            raise IncidentStoreError(f"table {self._table} cannot be written ({reason(error)})") from error


def _text(transition: Transition) -> str:
    text = f"{transition.changed_at.astimezone(UTC).isoformat()}|{transition.state}|{transition.old_state}"
    return f"{text}|{transition.contributor}" if transition.contributor else text


def _transition(text: str) -> Transition:
    changed_at, state, old_state, *contributor = text.split("|", 3)
    return Transition(datetime.fromisoformat(changed_at), State(state), State(old_state), "".join(contributor))

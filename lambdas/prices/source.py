"""One of AWS's price lists: what it is asked, what it answers, and one kind of error for everything between."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Protocol, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from fleet.instances import InstanceType, Price
from fleet.prices.record import PriceRecord

_Page = TypeVar("_Page", bound=Mapping[str, object])


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: prices of ``types``, those of the environment first, in ``region``, as of ``now``.

    ``has_time`` is False once nothing more should be asked for.
    """

    types: tuple[InstanceType, ...]
    region: str
    now: datetime
    has_time: Callable[[], bool]

    @property
    def today(self) -> str:
        """The day of the answer, which is the date of its prices."""
        return self.now.date().isoformat()

    @property
    def read_at(self) -> str:
        """The moment of the answer, for the table."""
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one source said. ``problems`` could not be read, ``absent`` has no price.

    Both are reasons by instance type; the empty type stands for all that were asked for.
    """

    found: tuple[PriceRecord, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    absent: tuple[tuple[str, str], ...] = ()

    def reason(self, instance_type: str) -> str | None:
        """Why there is no price of that type."""
        every = dict(self.absent) | dict(self.problems)
        return every.get(instance_type) or every.get("")


class Source(Protocol):
    """One of AWS's price lists. What it cannot read it names in its answer, and raises nothing that it knows of."""

    name: str
    kinds: frozenset[str]

    def read(self, question: Question) -> Reading:
        """All that it has."""
        ...


class NotReadError(Exception):
    """A price could not be read; one line for the log and for the price that stays as old as it is."""


def one_by_one(
    question: Question, types: Iterable[InstanceType], price_of: Callable[[InstanceType], Price | None], absent: str
) -> Reading:
    """One price of each of ``types``, or the reason why there is none: ``absent`` where AWS has none."""
    found, problems, without = [], [], []
    for known in types:
        try:
            price = price_of(known)
        except NotReadError as error:
            problems.append((known.name, str(error)))
            continue
        if price is None:
            without.append((known.name, absent))
        else:
            found.append(PriceRecord(known.name, price, question.read_at))
    return Reading(tuple(found), tuple(problems), tuple(without))


def pages(action: str, question: Question, asked: Iterable[_Page], most: int) -> Iterator[_Page]:
    """The pages of ``asked``, a paginator's. The client repeats what may be repeated, within its own limits.

    Raises:
        NotReadError: AWS refused, did not answer, has more than ``most`` pages, or there is no time left to ask.
    """
    coming = iter(asked)
    for number in count():
        page = _next(action, question, coming)
        if page is None:
            return
        if number == most:
            raise NotReadError(f"{action}: more than {most} pages")
        yield page


def _next(action: str, question: Question, coming: Iterator[_Page]) -> _Page | None:
    if not question.has_time():
        raise NotReadError(f"{action} was not asked: the function's time was up")
    try:
        return next(coming, None)
    except ClientError as error:
        details = error.response.get("Error", {})
        raise NotReadError(f"{action}: {details.get('Code', 'refused')}: {details.get('Message', '')}") from error
    except (BotoCoreError, ValueError) as error:
        # ValueError: what came is not even the protocol's JSON or XML.
        raise NotReadError(f"{action}: {type(error).__name__}: {error}") from error

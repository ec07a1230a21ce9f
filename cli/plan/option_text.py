"""An option of `fleet plan compare` as it is typed: ``name=inf2,type=inf2.48xlarge,throughput=550,price=12.98``."""

from collections.abc import Mapping, Sequence
from typing import Final

from cli.bench.result import option_fields
from cli.figures import today
from fleet.diagnostics import did_you_mean, with_known
from fleet.fleet_spec import MarketKind
from fleet.instances import Price, UnknownInstanceTypeError, instance_type
from fleet.prices import price_for
from fleet.regions import REGIONS
from planning.compare import Option, Phase, Rate
from planning.document_prices import DocumentPrices
from planning.money import PlanError

_NUMBERS: Final = frozenset({"instances", "throughput", "hours", "days", "price", "usd"})
_WORDS: Final = frozenset({"name", "type", "source", "region", "market", "bench"})
# Not a word that can be typed: the title of the document whose price it is.
_QUOTED: Final = "quoted from"
_DEFAULT_MARKETS: Final = (MarketKind.ON_DEMAND, MarketKind.CAPACITY_BLOCK)


Prices = Mapping[str, tuple[Price, ...]]


def read_options(
    texts: Sequence[str], region: str, document: DocumentPrices | None = None, refreshed: Prices | None = None
) -> list[Option]:
    """The options of ``texts``; those of one name are phases of one option, in their order.

    A type that has no price by hand has that of ``document``, where it names one.

    Raises:
        PlanError: A key is unknown or doubled, a number is none, or an option has nothing to work its cost out from.
    """
    phases: dict[str, list[Phase]] = {}
    for text in texts:
        fields = _fields(text)
        if "bench" in fields:
            # What is written beside it counts.
            fields = {**option_fields(fields["bench"]), **fields}
        name = fields.get("name") or fields.get("type")
        if name is None:
            raise PlanError(f"{text}: an option needs name= or type=")
        try:
            phase = _phase(_with_document(fields, document), region, refreshed or {})
            phases.setdefault(name, []).append(phase)
        except (PlanError, UnknownInstanceTypeError) as error:
            raise PlanError(f"{name}: {error}") from error
    return [Option(name, tuple(each)) for name, each in phases.items()]


def _with_document(fields: dict[str, str], document: DocumentPrices | None) -> dict[str, str]:
    named = None if document is None else document.usd_per_hour.get(fields.get("type", ""))
    if document is None or named is None or "price" in fields:
        return fields
    return {**fields, "price": str(named), _QUOTED: document.title}


def _fields(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for item in text.split(","):
        key, separator, value = (part.strip() for part in item.partition("="))
        if not separator or not value:
            raise PlanError(f"{text}: {item!r} is not key=value")
        if key not in _NUMBERS | _WORDS:
            raise PlanError(f"{text}: {key} is not known; {did_you_mean(key, sorted(_NUMBERS | _WORDS))}")
        if key in fields:
            raise PlanError(f"{text}: {key} is there twice")
        fields[key] = value
    return fields


def _phase(fields: dict[str, str], region: str, refreshed: Prices) -> Phase:
    numbers = {key: _number(key, value) for key, value in fields.items() if key in _NUMBERS}
    if "hours" in numbers and "days" in numbers:
        raise PlanError("hours and days: give one of them")
    hours = numbers["days"] * 24 if "days" in numbers else numbers.get("hours")
    if "usd" in numbers:
        return Phase(usd=numbers["usd"], hours=hours, throughput=numbers.get("throughput"))
    count = numbers.get("instances", 1.0)
    if not count.is_integer():
        raise PlanError(f"instances is {count:g}; it must be a whole number")
    return Phase(int(count), _rates(fields, numbers.get("price"), region, refreshed), numbers.get("throughput"), hours)


def _rates(fields: dict[str, str], by_hand: float | None, region: str, refreshed: Prices) -> tuple[Rate, ...]:
    """The price by hand, then the catalogue's for the type, where there is one."""
    rates = () if by_hand is None else (Rate(by_hand, _given(fields)),)
    if "type" not in fields:
        return rates
    instance = instance_type(fields["type"])
    place = fields.get("region", region)
    if place not in REGIONS:
        raise PlanError(f"unknown region {place}; {did_you_mean(place, sorted(REGIONS))}")
    prices = (price_for(instance, place, market, refreshed.get(instance.name, ())) for market in _markets(fields))
    newest = next((price for price in prices if price is not None), None)
    if newest is not None:
        return (*rates, Rate.of_catalogue(newest, today()))
    if not rates:
        raise PlanError(f"no price of {instance.name} in {place} is known; give price= and source=")
    return rates


def _given(fields: dict[str, str]) -> str:
    if _QUOTED in fields:
        return f"as given, undated ({fields[_QUOTED]})"
    return f"by hand ({fields.get('source', 'no source named')}), {today()}"


def _markets(fields: dict[str, str]) -> tuple[MarketKind, ...]:
    if "market" not in fields:
        return _DEFAULT_MARKETS
    try:
        return (MarketKind(fields["market"]),)
    except ValueError:
        raise PlanError(f"market is {fields['market']}; {with_known(fields['market'], MarketKind)}") from None


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise PlanError(f"{key} is {value!r}; it must be a number") from None

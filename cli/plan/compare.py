"""`fleet plan compare`: what measured options cost, at the prices of a document and at those of today.

An option is typed as ``name=inf2,type=inf2.48xlarge,throughput=550,price=12.98``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Final

import typer

from cli.answers import print_json, refuse
from cli.bench.result import option_fields
from cli.figures import dollars, today
from cli.named import known_region
from cli.prices.table import PRICES_HELP, of_environment
from cli.tables import Table, print_table
from fleet.diagnostics import did_you_mean, with_known
from fleet.fleet_spec import MarketKind
from fleet.instances import Price, UnknownInstanceTypeError, instance_type
from fleet.prices import price_for
from fleet.regions import REGIONS
from planning.compare import Comparison, Option, Outcome, Phase, Rate, Target
from planning.compare import compare as work_out
from planning.document_prices import DOCUMENTS, DocumentPrices, document_prices
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


_OPTION_HELP = (
    "Key=value,...: name, type, instances, throughput (units a second of all instances together), hours or days (of a "
    "run), price ($ an hour of an instance) with source, market, region; bench, a file of fleet bench "
    "endpoint --json, in place of type, instances and throughput; or usd, a plain sum. Options of one name are "
    "phases and add up."
)


def compare(  # noqa: PLR0913, PLR0917 (one for each option)
    option: Annotated[list[str], typer.Option(help=_OPTION_HELP)],
    units: Annotated[float | None, typer.Option(help="Tokens or samples of one run.")] = None,
    rate: Annotated[float | None, typer.Option(help="Units a second that a fleet has to deliver.")] = None,
    unit: Annotated[str, typer.Option(help="What throughput counts.")] = "tokens",
    month_hours: Annotated[float, typer.Option(help="Hours of a month: 730, or 720 for 30 days.")] = 730,
    region: Annotated[str, typer.Option(callback=known_region, help="Of catalogue prices.")] = "us-east-2",
    document: Annotated[
        str | None, typer.Option(help=f"Prices of a source document beside today's: {', '.join(DOCUMENTS)}.")
    ] = None,
    prices: Annotated[str | None, typer.Option(help=PRICES_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare options by what they cost."""
    target = Target(units, rate, month_hours)
    try:
        quoted = None if document is None else document_prices(document)
        answer = work_out(read_options(option, region, quoted, of_environment(prices)), target)
    except PlanError as error:
        refuse(error)
    if as_json:
        content = {"unit": unit, **asdict(target), **asdict(answer)}
        print_json(content)
        return
    _show(answer, target, unit)


def _show(answer: Comparison, target: Target, unit: str) -> None:
    print_table(_table("At the prices given", answer.given, target, unit))
    if answer.today:
        print_table(_table("At the prices of the catalogue", answer.today, target, unit))


def _table(title: str, outcomes: Sequence[Outcome], target: Target, unit: str) -> Table:
    table = Table("", *(each.option for each in outcomes), title=title)
    rows: dict[str, Callable[[Outcome], str]] = {
        "$/h": lambda each: dollars(each.usd_per_hour),
        f"$/month of {target.hours_per_month:g} h": lambda each: dollars(each.usd_per_month),
        f"$/1M {unit}": lambda each: dollars(each.usd_per_million_units),
        "run, h": lambda each: "-" if each.run_hours is None else f"{each.run_hours:,.1f}",
        "run, $": lambda each: dollars(each.run_usd),
        "fleet, instances": lambda each: "-" if each.fleet_instances is None else str(each.fleet_instances),
        "fleet, $/h": lambda each: dollars(each.fleet_usd_per_hour),
        "saves": lambda each: "-" if each.saving_percent is None else f"{each.saving_percent:.1f} %",
        "price": lambda each: "\n".join(each.prices) or "a plain sum",
    }
    for name, cell in rows.items():
        table.add_row(name, *(cell(each) for each in outcomes))
    return table

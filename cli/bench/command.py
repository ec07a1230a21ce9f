"""`fleet bench endpoint URL`: put load on it, print what it comes to, and leave it as a file and a plot."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import msgspec
import typer

from cli.answers import CONSOLE, refuse
from cli.bench import result
from cli.bench import result as plotting
from cli.bench.load import APIS, Load, LoadError, run
from cli.bench.result import PlotError, Served
from cli.figures import dollars, priced
from cli.named import known_region
from cli.progress import waiting
from cli.tables import Table, print_table
from fleet.fleet_spec import MarketKind
from fleet.instances import UnknownInstanceTypeError, instance_type
from fleet.prices import price_for
from fleet.serving.measurement import Measurement, MeasurementError, by_second, measure

app = typer.Typer(help="Load on an endpoint, and what it comes to.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Load on an endpoint, and what it comes to."""


@app.command()
def endpoint(  # noqa: PLR0913, PLR0917 (one for each option)
    url: Annotated[str, typer.Argument(help="Of the endpoint, without a path, such as https://chat.example.com.")],
    api: Annotated[str, typer.Option(help=f"One of {', '.join(APIS)}.")] = "completions",
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Clients of a closed loop.")] = 16,
    rate: Annotated[
        float | None, typer.Option(min=0.01, max=20_000, help="Requests a second of an open loop, in place of clients.")
    ] = None,
    duration: Annotated[float, typer.Option(min=1, max=86_400, help="Seconds that count.")] = 30,
    warm_up: Annotated[float, typer.Option(min=0, max=3600, help="Seconds before, which do not count.")] = 5,
    input_tokens: Annotated[
        str, typer.Option(help="Length of inputs; several are drawn evenly, as in 100,500,2000.")
    ] = "100",
    max_tokens: Annotated[int, typer.Option(min=1, max=4096, help="Asked for with each completion.")] = 64,
    timeout: Annotated[float, typer.Option(min=0.1, max=600, help="Seconds, after which a request failed.")] = 60,
    model: Annotated[str, typer.Option(help="As the endpoint calls it, where it serves several.")] = "",
    served_by: Annotated[str | None, typer.Option("--type", help="Instance type that serves, for the cost.")] = None,
    instances: Annotated[int, typer.Option(min=1, max=2000, help="How many of it serve.")] = 1,
    market: Annotated[MarketKind, typer.Option(help="How they are bought.")] = MarketKind.ON_DEMAND,
    region: Annotated[str, typer.Option(callback=known_region, help="Of the catalogue price.")] = "us-east-2",
    plot: Annotated[Path | None, typer.Option(help="HTML file to draw the run into.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, which `fleet plan compare` reads.")] = False,
) -> None:
    """Measure an endpoint: p50, p95, p99, throughput, tokens a second, and what a million tokens cost."""
    served = None if served_by is None else _served(served_by, instances, market, region)
    lengths = _lengths(input_tokens)
    if api not in APIS:
        refuse(f"--api {api}: one of {', '.join(APIS)}")
    load = Load(_address(url), api, lengths, max_tokens, concurrency, rate, warm_up, duration, timeout, model)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with waiting(f"measuring {load.url} for {warm_up + duration:g} s"):
            made = run(load)
        found = measure(made.samples, made.begin, made.end)
        if plot is not None:
            title = f"{load.url}: {_loop(load)}, {at}"
            plotting.write(plot, title, by_second(made.samples, made.begin, made.end))
    except (LoadError, MeasurementError, PlotError) as error:
        refuse(error)
    if as_json:
        told = msgspec.json.encode(result.content(load, found, served, at))
        typer.echo(msgspec.json.format(told).decode())
        return
    print_table(_table(load, found, served))
    if plot is not None:
        CONSOLE.print(f"plot: {plot}")


def _served(name: str, instances: int, market: MarketKind, region: str) -> Served:
    try:
        return Served(name, instances, region, market, price_for(instance_type(name), region, market))
    except UnknownInstanceTypeError as error:
        refuse(error)


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_right = False
    if not is_right or parts.path.strip("/") or parts.query or parts.username:
        refuse(f"{url}: not the address of an endpoint, such as https://chat.example.com; leave path and user out")
    return url.rstrip("/")


def _lengths(text: str) -> tuple[int, ...]:
    try:
        lengths = tuple(int(each) for each in text.split(","))
    except ValueError:
        lengths = ()
    if not lengths or not all(1 <= each <= 1_000_000 for each in lengths):
        refuse(f"--input-tokens {text}: whole numbers above zero with commas between, such as 100,500")
    return lengths


def _loop(load: Load) -> str:
    return f"{load.concurrency} clients" if load.rate is None else f"{load.rate:g} requests a second"


class _Row(NamedTuple):
    name: str
    value: str


def _table(load: Load, found: Measurement, served: Served | None) -> Table:
    table = Table("", "", title=f"{load.url}: {_loop(load)}, {found.seconds:g} s")
    for row in _rows(found, served):
        table.add_row(row.name, row.value)
    return table


def _rows(found: Measurement, served: Served | None) -> list[_Row]:
    latencies = found.latency_seconds.items()
    failed = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(found.errors.items())) or "none"
    rows = [
        *(_Row(f"{name}, ms", f"{seconds * 1000:,.1f}") for name, seconds in latencies),
        _Row("requests/s", f"{found.requests_per_second:,.1f}"),
        _Row("tokens/s read", f"{found.tokens_in_per_second:,.1f}"),
        _Row("tokens/s generated", f"{found.tokens_out_per_second:,.1f}"),
        _Row("failed", failed),
    ]
    if served is not None:
        what = "generated" if found.tokens_out_per_second else "read"
        rows += [
            _Row(f"$/1M tokens {what}", dollars(served.usd_per_million_tokens(found))),
            _Row("served by", f"{served.instances} x {served.instance_type}, {served.region}"),
            _Row("price", priced(served.price)),
        ]
    return rows

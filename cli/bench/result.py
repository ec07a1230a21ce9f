"""The result of a run as a file, which `fleet plan compare --option bench=FILE` reads again.

And as one HTML file that opens without a network: throughput, errors and latencies, second by second.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

import msgspec

from cli.bench.load import Load
from fleet.fleet_spec import MarketKind
from fleet.instances import Price
from fleet.serving.measurement import Measurement, Second, usd_per_million_tokens
from local.dashboards_page.chart_library import ECHARTS, MISSING
from planning.money import PlanError

KIND: Final = "fleet-bench-endpoint"
SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Served:
    """What served: ``instances`` of ``instance_type``, at ``price`` an hour each in ``market``; None: not known."""

    instance_type: str
    instances: int
    region: str
    market: MarketKind
    price: Price | None

    def usd_per_million_tokens(self, measurement: Measurement) -> float | None:
        """None where the price or the tokens are not known."""
        if self.price is None:
            return None
        return usd_per_million_tokens(measurement, self.price.usd_per_hour * self.instances)


def content(load: Load, measurement: Measurement, served: Served | None, at: str) -> dict[str, Any]:
    """As JSON; ``at`` is when it began, UTC."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "at": at,
        "load": asdict(load),
        **asdict(measurement),
        "tokens_per_second": measurement.tokens_per_second,
        "served": None
        if served is None
        else {**asdict(served), "usd_per_million_tokens": served.usd_per_million_tokens(measurement)},
    }


def option_fields(path: str) -> Mapping[str, str]:
    """What a result says of an option of `fleet plan compare`: type, instances, region, market, throughput in tokens.

    Raises:
        PlanError: it cannot be read, is no result, or does not say what served.
    """
    try:
        found = msgspec.json.decode(Path(path).read_bytes())
        if not isinstance(found, dict) or (found.get("kind"), found.get("schema")) != (KIND, SCHEMA):
            raise PlanError(f"bench={path}: not a result of `fleet bench endpoint --json`")
        served, rate = found["served"], float(found["tokens_per_second"])
        if served is None:
            raise PlanError(f"bench={path}: does not say what served; measure with --type")
        return {
            "type": str(served["instance_type"]),
            "instances": str(served["instances"]),
            "region": str(served["region"]),
            # Results of before do not have it: then the default of that command counts.
            **({"market": str(served["market"])} if "market" in served else {}),
            "throughput": str(rate),
        }
    except OSError as error:
        raise PlanError(f"bench={path}: {error.strerror}") from error
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError(f"bench={path}: not a result of `fleet bench endpoint --json`: {error}") from error


_PAGE: Final = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<style>body{{font:14px system-ui;margin:2em}}#plot{{height:70vh}}</style>
<h1>{title}</h1><div id="plot"></div>
<script>{library}</script>
<script>echarts.init(document.getElementById("plot")).setOption({option});</script>
"""


class PlotError(Exception):
    """The plot cannot be made; the message is one line."""


def write(path: Path, title: str, seconds: Sequence[Second], library: Path = ECHARTS) -> None:
    """Draw ``seconds`` into ``path``.

    Raises:
        PlotError: the chart library is not installed, or the file cannot be written.
    """
    try:
        code = library.read_text(encoding="utf-8")
    except OSError as error:
        raise PlotError(f"{library}: {error.strerror}; {MISSING}") from error
    page = _PAGE.format(title=escape(title), library=code, option=_script(_option(seconds)))
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise PlotError(f"{path}: {error.strerror}") from error


def _option(seconds: Sequence[Second]) -> dict[str, Any]:
    def line(name: str, values: list[float | None], axis: int) -> dict[str, Any]:
        return {"name": name, "type": "line", "showSymbol": False, "yAxisIndex": axis, "data": values}

    milliseconds = [(_milliseconds(each.p50), _milliseconds(each.p99)) for each in seconds]
    return {
        "animation": False,
        "tooltip": {"trigger": "axis"},
        "legend": {},
        "xAxis": {"name": "s", "data": [each.at for each in seconds]},
        "yAxis": [{"name": "1/s"}, {"name": "ms"}],
        "series": [
            line("answers a second", [each.requests for each in seconds], 0),
            line("errors a second", [each.errors for each in seconds], 0),
            line("p50, ms", [p50 for p50, _ in milliseconds], 1),
            line("p99, ms", [p99 for _, p99 in milliseconds], 1),
        ],
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def _script(value: object) -> str:
    # Inside a script element only its end tag has a meaning.
    return json.dumps(value).replace("</", "<\\/")

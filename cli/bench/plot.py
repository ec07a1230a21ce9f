"""A run as one HTML file that opens without a network: throughput, errors and latencies, second by second."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from fleet.serving.measurement import Second
from local.dashboards_page.chart_library import ECHARTS, MISSING

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

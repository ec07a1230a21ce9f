"""`fleet replay --sweep --plot`: what a threshold gains and costs, as one SVG file.

ECharts draws it. The library renders SVG without a browser (``ssr`` of ``echarts.init``, "Server-side Rendering" in
https://echarts.apache.org/handbook, 2026-11-23), and Node.js, which the CDK command line needs anyway, runs it.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from local.dashboards_page.chart_library import ECHARTS, MISSING

Row = Mapping[str, float | int | None]
_TIMEOUT_SECONDS: Final = 60
# Of Okabe and Ito's palette: apart for whoever does not tell red from green.
_COLORS: Final = ("#0072b2", "#d55e00", "#000000")
# A chart that is not disposed of keeps a timer, and Node.js does not end.
_DRAW: Final = """
const chart = require(process.argv[1]).init(null, null, {renderer: "svg", ssr: true, width: 800, height: 420});
chart.setOption(JSON.parse(require("fs").readFileSync(0, "utf8")));
process.stdout.write(chart.renderToSVGString());
chart.dispose();
"""


class PlotError(Exception):
    """The plot cannot be made; the message is one line."""


def write(file: Path, alarm: str, rows: Sequence[Row], library: Path = ECHARTS) -> None:
    """Draw ``rows``, one for each threshold of ``alarm``, into ``file``.

    Raises:
        PlotError: Node.js or the chart library is not there or fails, or the file cannot be written.
    """
    drawn = _drawn(option(alarm, rows), node_for(library), library)
    try:
        file.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise PlotError(f"{file}: {error.strerror}") from error


def node_for(library: Path = ECHARTS) -> str:
    """The Node.js that is going to draw with ``library``; who asks before a long replay has not waited for nothing.

    Raises:
        PlotError: One of the two is not there.
    """
    if not library.is_file():
        raise PlotError(f"--plot: {MISSING}")
    node = shutil.which("node")
    if node is None:
        raise PlotError("--plot: Node.js draws it, and there is no `node` on the PATH")
    return node


def _drawn(given: Mapping[str, Any], node: str, library: Path) -> str:
    command = [node, "-e", _DRAW, str(library.absolute())]
    try:
        done = subprocess.run(  # noqa: S603  the program above, with the chart on its standard input
            command, input=json.dumps(given), capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except OSError as error:
        raise PlotError(f"--plot: {node}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise PlotError(f"--plot: {node} did not draw within {_TIMEOUT_SECONDS} s") from error
    if done.returncode or not done.stdout.startswith("<svg"):
        wrong = [line for line in done.stderr.splitlines() if "Error" in line] or [f"exit code {done.returncode}"]
        raise PlotError(f"--plot: {library}: {wrong[0]}")
    return done.stdout


def option(alarm: str, rows: Sequence[Row]) -> dict[str, Any]:
    """ECharts' option: recall and precision in percent and pages; pages alone where no incident is labeled."""
    labeled = any(row["recall"] is not None for row in rows)
    shares = [("recall", "circle"), ("precision", "rect")] if labeled else []
    lines = [_line(name, symbol, [_percent(row[name]) for row in rows], rows, 0) for name, symbol in shares]
    lines.append(_line("pages", "triangle", [row["pages"] for row in rows], rows, len(shares[:1])))
    percent = {"type": "value", "name": "percent", "min": 0, "max": 100}
    count = {"type": "value", "name": "pages", "min": 0, "minInterval": 1}
    return {
        "animation": False,
        "color": _COLORS,
        "backgroundColor": "#fff",
        "legend": {"top": 8},
        "grid": {"top": 64, "bottom": 56},
        "xAxis": {"type": "value", "name": f"{alarm}, threshold", "nameLocation": "middle", "nameGap": 32}
        | _ends(rows),
        "yAxis": [percent, count] if labeled else [count],
        "series": lines,
    }


def _line(name: str, symbol: str, values: Sequence[float | None], rows: Sequence[Row], axis: int) -> dict[str, Any]:
    # Without a value there is no point: ECharts leaves a gap at null.
    data = [[row["threshold"], value] for row, value in zip(rows, values, strict=True)]
    return {"name": name, "type": "line", "symbol": symbol, "symbolSize": 8, "yAxisIndex": axis, "data": data}


def _ends(rows: Sequence[Row]) -> dict[str, Any]:
    thresholds = [row["threshold"] for row in rows]
    # A single point needs an axis with some width.
    return {"min": thresholds[0], "max": thresholds[-1]} if len(thresholds) > 1 else {"scale": True}


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)

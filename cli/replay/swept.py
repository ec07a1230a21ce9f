"""How `fleet replay --sweep` shows what a threshold costs: a table, and the same rows as a file."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from cli.tables import Table, print_table

Row = Mapping[str, float | int | None]


def show(console: Console, alarm: str, rows: Sequence[Row]) -> None:
    """One row for each threshold."""
    table = Table(f"{alarm}, threshold", "pages", "false", "recall", "precision", "median minutes", "USD lost before")
    for row in rows:
        table.add_row(
            f"{row['threshold']:g}",
            str(row["pages"]),
            str(row["false_pages"]),
            _said(row["recall"], "{:.1%}"),
            _said(row["precision"], "{:.1%}"),
            _said(row["median_minutes"], "{:.1f}"),
            _said(row["lost_usd"], "{:,.0f}"),
        )
    print_table(table, console)


def write(file: Path, rows: Sequence[Row]) -> None:
    """The rows for a spreadsheet or a plot.

    Raises:
        OSError: It cannot be written.
    """
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _said(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)

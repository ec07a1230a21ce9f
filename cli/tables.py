"""Tables that lose nothing: whole in a pipe, wrapped where a terminal is wide enough, else a card for each row."""

from typing import Final

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from cli.answers import CONSOLE

__all__ = ["Column", "Table", "print_table"]

# Of a column: a space on either side and a border; one more border ends the table.
_BORDERS: Final = 3


def print_table(table: Table, console: Console = CONSOLE) -> None:
    """Print ``table`` so that every cell can be read whole, however narrow the terminal is."""
    least, most = zip(*(_widths(column, console) for column in table.columns), strict=True)
    frame = _BORDERS * len(table.columns) + 1
    if not console.is_terminal:
        # A pipe has no width: `grep` and `awk` want a row on a line.
        _print_fitted(table, most, _unlimited(console, frame + sum(most)))
    elif frame + sum(least) <= console.width:
        _print_fitted(table, _shared(least, most, console.width - frame), console)
    else:
        _print_cards(table, console)


def _widths(column: Column, console: Console) -> tuple[int, int]:
    """Of the longest word and of the longest cell."""
    texts = [_text(cell, console).plain for cell in (column.header, *column.cells)]
    most = max([column.min_width or 1, *(cell_len(line) for text in texts for line in text.split("\n"))])
    least = max([column.min_width or 1, *(cell_len(word) for text in texts for word in text.split())])
    return (most if column.no_wrap else least), most


def _shared(least: tuple[int, ...], most: tuple[int, ...], room: int) -> tuple[int, ...]:
    """Widths that fill no more than ``room``: what words need, and of the rest as much as each column lacks."""
    spare, lacking = room - sum(least), sum(most) - sum(least)
    if lacking <= spare:
        return most
    return tuple(few + (many - few) * spare // lacking for few, many in zip(least, most, strict=True))


def _print_fitted(table: Table, widths: tuple[int, ...], console: Console) -> None:
    for column, width in zip(table.columns, widths, strict=True):
        column.width, column.min_width, column.overflow = width, None, "fold"
    console.print(table)


def _print_cards(table: Table, console: Console) -> None:
    for edge, told in (("top", table.title), ("row", None), ("bottom", table.caption)):
        if edge == "row":
            _print_rows(table, console)
        elif told:
            console.print(_text(told, console), soft_wrap=True)


def _print_rows(table: Table, console: Console) -> None:
    headers = [_text(column.header, console) for column in table.columns]
    indent = max(header.cell_len for header in headers)
    for row in zip(*(column.cells for column in table.columns), strict=True):
        console.print()
        for header, cell in zip(headers, row, strict=True):
            gap = " " * (indent - header.cell_len + 2)
            console.print(Text.assemble(header, gap, _text(cell, console)), soft_wrap=True)


def _unlimited(console: Console, width: int) -> Console:
    styled = console.render_str("[b]x[/]").plain == "x"
    return Console(file=console.file, width=width, highlight=False, markup=styled, emoji=False)


def _text(cell: RenderableType, console: Console) -> Text:
    return cell if isinstance(cell, Text) else console.render_str(str(cell), emoji=False)

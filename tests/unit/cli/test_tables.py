"""No table loses a value: at any width every cell can be read whole."""

import re
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from cli import block_engine, capacity
from cli.answers import say
from cli.main import app
from cli.tables import Column, Table, print_table

ARN: Final = "arn:aws:states:us-east-2:111122223333:execution:neuron-fleet-prod-compile-cache:8f6b2c1d-0a1b-2c3d"
ROW: Final = (
    ARN,
    "16",
    "2026-11-20 10:00",
    "no capacity in use2-az3 for a day; a [note] in brackets",
    "$17,280.00",
)
HEADERS: Final = ("execution", "nodes", "since (UTC)", "why", "fee")
WIDTHS: Final = (60, 80, 100, 120, 200)


def printed(table: Table, width: int, *, is_terminal: bool = True) -> str:
    file = StringIO()
    print_table(
        table, Console(file=file, width=width, force_terminal=is_terminal, color_system=None, markup=False, emoji=False)
    )
    return file.getvalue()


def joined(text: str) -> list[str]:
    """The text column by column, and as it stands: without white space, in which wrapping is no loss."""
    columns: dict[int, str] = {}
    for line in text.splitlines():
        for index, part in enumerate(re.split("[│┃]", line)[1:-1]):
            columns[index] = columns.get(index, "") + part
    return ["".join(each.split()) for each in (text, *columns.values())]


def is_whole(cell: str, text: str) -> bool:
    return any("".join(cell.split()) in each for each in joined(text))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("headers", [HEADERS, tuple(Column(name, no_wrap=True) for name in HEADERS)])
def test_every_cell_can_be_read_whole_at_every_width(width: int, headers: Any) -> None:
    table = Table(*headers, title="Executions of a long title that says what they are of", caption="prices: none")
    table.add_row(*ROW)
    table.add_row(*reversed(ROW))
    text = printed(table, width)
    assert "…" not in text
    assert all(is_whole(cell, text) for cell in (*HEADERS, *ROW))
    assert all(len(line) <= width for line in text.splitlines() if "│" in line or "┃" in line)


def test_a_narrow_terminal_gets_a_card_for_each_row() -> None:
    table = Table("execution", "why", title="Executions")
    table.add_row(ARN, "no capacity")
    assert printed(table, 60).splitlines() == ["Executions", "", f"execution  {ARN}", "why        no capacity"]


def test_what_fits_is_not_wrapped() -> None:
    table = Table(*HEADERS)
    table.add_row(*ROW)
    assert len(printed(table, 250).splitlines()) == 5


@pytest.mark.parametrize("width", [20, 80])
def test_a_pipe_gets_a_row_on_a_line_whatever_its_width(width: int) -> None:
    table = Table(*HEADERS)
    table.add_row(*ROW)
    (line,) = [each for each in printed(table, width, is_terminal=False).splitlines() if ARN in each]
    assert all(cell in line for cell in ROW)


words = st.text(alphabet="abcdefgh0123456789-:/", min_size=1, max_size=70)
cells = st.lists(words, min_size=1, max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=3)),
       st.sampled_from(WIDTHS))  # fmt: skip
def test_whatever_stands_in_a_cell_it_can_be_read(rows: list[list[str]], width: int) -> None:
    table = Table(*(f"c{index}" for index in range(len(rows[0]))))
    for row in rows:
        table.add_row(*row)
    text = printed(table, width)
    assert all(is_whole(cell, text) for row in rows for cell in row)


def test_a_word_between_colons_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("arn")
    table.add_row("arn:aws:key:b:1")
    print_table(table)
    say("arn:aws:key:b:1")
    assert capsys.readouterr().out.count("arn:aws:key:b:1") == 2


def test_no_command_makes_tables_that_cut() -> None:
    folder = Path(str(capacity.__file__)).parent
    users = [path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if "rich.table" in path.read_text()]
    assert users == ["tables.py"]


def test_the_requests_of_capacity_blocks_are_whole_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    offer = {"start": "2026-12-01T11:30:00Z", "end": "2026-12-15T11:30:00Z", "fee_usd": 172800.0, "instances": 8,
             "instance_type": "trn2.48xlarge", "offering_id": "cbo-0a1b2c3d4e5f60718"}  # fmt: skip
    request = {"request_id": "4f2c9a1b7d3e", "fleet": "trn2-frontier", "status": "scheduled", "offering": offer,
               "reservation_id": "cr-0a1b2c3d4e5f60718", "requested_by": ARN, "approved_by": ARN, "reason": "as asked",
               "requested_at": "2026-11-20T10:00:00Z", "is_adopted": False}  # fmt: skip
    monkeypatch.setattr(block_engine, "everything", lambda _: [request])
    answer = CliRunner().invoke(app, ["capacity", "list", "prod"], env={"COLUMNS": "80"})
    assert answer.exit_code == 0, answer.exception
    (line,) = [each for each in answer.stdout.splitlines() if "4f2c9a1b7d3e" in each]
    assert "cr-0a1b2c3d4e5f60718" in line
    assert "…" not in answer.stdout

"""`fleet replay --sweep --plot`: what is drawn, and one line for whatever keeps it from being drawn."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.replay import command, plot
from tests.support.needs import needs

ROWS: Final = (
    {"threshold": 1.0, "pages": 9, "recall": 1.0, "precision": 0.4},
    {"threshold": 5.0, "pages": 5, "recall": 0.75, "precision": 0.7},
    {"threshold": 20.0, "pages": 0, "recall": 0.0, "precision": None},
)
UNLABELED: Final = tuple({**row, "recall": None, "precision": None} for row in ROWS)


def texts(file: Path) -> set[str]:
    return {each.text or "" for each in ET.parse(file).iter("{http://www.w3.org/2000/svg}text")}  # noqa: S314  our own


@needs("the CDK command line")
def test_the_file_is_an_svg_with_a_line_for_each_figure(tmp_path: Path) -> None:
    plot.write(tmp_path / "labeled.svg", "IdleAllocated", ROWS)
    plot.write(tmp_path / "bare.svg", "IdleAllocated", UNLABELED)

    labeled, bare = texts(tmp_path / "labeled.svg"), texts(tmp_path / "bare.svg")
    assert {"recall", "precision", "pages", "IdleAllocated, threshold"} <= labeled
    assert {"pages", "IdleAllocated, threshold"} <= bare
    assert bare.isdisjoint({"recall", "precision", "percent"})


def test_lines_are_the_rows_and_what_is_not_known_is_no_zero() -> None:
    drawn = {each["name"]: (each["yAxisIndex"], each["data"]) for each in plot.option("IdleAllocated", ROWS)["series"]}

    assert drawn == {
        "recall": (0, [[1, 100], [5, 75], [20, 0]]),
        "precision": (0, [[1, 40], [5, 70], [20, None]]),
        "pages": (1, [[1, 9], [5, 5], [20, 0]]),
    }
    (pages,) = plot.option("IdleAllocated", UNLABELED)["series"]
    assert (pages["name"], pages["yAxisIndex"]) == ("pages", 0)


def failing_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """``node`` is ``script``, and the library a file."""
    (tmp_path / "node").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(plot, "_TIMEOUT_SECONDS", 0.5)
    (tmp_path / "echarts.js").touch()
    return tmp_path / "echarts.js"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exec sleep 20", "did not draw within 0.5 s"),
        ("echo 'x.js:1\nTypeError: init is not a function' >&2; exit 1", "echarts.js: TypeError: init is not a func"),
        ("exit 3", "echarts.js: exit code 3"),
        ("echo", "echarts.js: exit code 0"),
    ],
)
def test_a_node_that_fails_is_one_line_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    library = failing_node(tmp_path, monkeypatch, script)

    with pytest.raises(plot.PlotError, match=message) as error:
        plot.write(tmp_path / "rows.svg", "IdleAllocated", ROWS, library)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "rows.svg").exists()


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = failing_node(tmp_path, monkeypatch, "printf '<svg></svg>'")

    with pytest.raises(plot.PlotError, match=r"absent/rows\.svg: No such file or directory"):
        plot.write(tmp_path / "absent" / "rows.svg", "IdleAllocated", ROWS, library)


def test_what_is_missing_is_said_before_anything_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = failing_node(tmp_path, monkeypatch, "")
    monkeypatch.setattr(command, "_replayed", lambda *_, **__: pytest.fail("replayed"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(plot.PlotError, match="npm install echarts"):
        plot.node_for(tmp_path / "absent.js")
    with pytest.raises(plot.PlotError, match="no `node` on the PATH"):
        plot.node_for(library)
    answer = CliRunner().invoke(
        app, ["replay", "hang-one-job-of-two", "--sweep", "JobHang.threshold=1", "--plot", str(tmp_path / "rows.svg")]
    )

    assert (answer.exit_code, answer.stderr.count("\n")) == (1, 1)
    assert answer.stderr.startswith("--plot: ")


def test_a_plot_of_nothing_is_refused(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["replay", "--plot", str(tmp_path / "rows.svg")])

    assert (answer.exit_code, answer.stderr) == (1, "--plot draws the rows of --sweep: pass that too\n")

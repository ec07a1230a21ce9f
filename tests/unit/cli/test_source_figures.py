"""`fleet plan source-figures`: the page in docs is what the figures give, and holds what is known to be wrong."""

import dataclasses
from collections import Counter
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from cli.main import app
from cli.plan.source_figures import FIGURES, documents
from environments.documents import DOCS
from planning.sources.figure import Figure, Verdict, check

PAGE = (DOCS / "source-figures.md").read_text(encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", "source-figures", *arguments])


def verdict_of(quote: str) -> Verdict:
    figures = (figure for document in documents(FIGURES) for figure in document.figures)
    return check(next(figure for figure in figures if quote in figure.quote)).verdict


def test_the_page_in_docs_is_what_the_figures_give() -> None:
    # After a change: fleet plan source-figures --out docs/source-figures.md
    assert run().stdout == PAGE


def test_it_writes_what_it_prints(tmp_path: Path) -> None:
    assert run("--out", str(tmp_path / "page.md")).exit_code == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == PAGE


def test_every_figure_of_the_five_documents_has_a_verdict() -> None:
    found = Counter(check(figure).verdict for document in documents(FIGURES) for figure in document.figures)

    assert len(documents(FIGURES)) == 5
    assert found == {
        Verdict.REPRODUCED: 107,
        Verdict.STALE: 31,
        Verdict.MISCALCULATED: 69,
        Verdict.NOT_REPRODUCIBLE: 61,
    }


def test_no_figure_is_there_twice() -> None:
    for document in documents(FIGURES):
        quotes = Counter((figure.section, figure.quote) for figure in document.figures)
        assert max(quotes.values()) == 1, quotes.most_common(3)


def test_every_key_of_the_file_is_one_of_a_figure() -> None:
    known = {field.name for field in dataclasses.fields(Figure)}
    content = yaml.safe_load(FIGURES.read_text(encoding="utf-8"))

    assert not [
        key for document in content["documents"] for each in document["figures"] for key in each if key not in known
    ]


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        # 50 B tokens on four nodes are not a quarter of the instance-hours.
        ("multi-node training on 4x p4d = ~1,085 instance-hours", Verdict.MISCALCULATED),
        # $12.24 an hour at 18,200 tokens/s are $0.00019 for 1,000 tokens.
        ("which is $0.00067 per 1000 tokens", Verdict.MISCALCULATED),
        ("inf2: = $6.55", Verdict.REPRODUCED),
        ("p4d: = $11.38", Verdict.STALE),
        ("30 = $184,320", Verdict.STALE),
        ("18 = $148,608", Verdict.REPRODUCED),
        ("Total: $159,140", Verdict.REPRODUCED),
        ("$2,752/hr = $1.98M/month", Verdict.REPRODUCED),
        ("p4d.24xlarge $32.77/hr", Verdict.STALE),
        ("costs $98.32/hr", Verdict.STALE),
        ("On-Demand Hourly Cost $12.24", Verdict.NOT_REPRODUCIBLE),
        ("trn2.48xlarge ~$23.97/hr", Verdict.NOT_REPRODUCIBLE),
        ("trn2n.48xlarge ~$33.65/hr", Verdict.NOT_REPRODUCIBLE),
        ("each of the 32 cores per trn2.48xlarge", Verdict.MISCALCULATED),
        ("p4d.24xlarge instances (8x A100 80GB)", Verdict.MISCALCULATED),
        ("g5.48xlarge ~$16.29/hr", Verdict.REPRODUCED),
    ],
)
def test_what_is_known_of_the_documents_is_found_again(quote: str, verdict: Verdict) -> None:
    assert verdict_of(quote) is verdict


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("documents: 3", "Expected `array`"),
        ("papers: []", "unknown field `papers`"),
        (
            "documents: [{title: t, about: a, figures: [{kind: guess, section: s, quote: q}]}]",
            "Invalid enum value 'guess'",
        ),
        (
            "documents: [{title: t, about: a, figures: [{kind: cost, section: s, quote: q, claimed: 1}]}]",
            "'q': say why it cannot be worked out",
        ),
        (
            "documents: [{title: t, about: a, figures: [{kind: cost, section: s, quote: q, claimed: 1, own: 1 +}]}]",
            "1 +: invalid syntax",
        ),
    ],
)
def test_a_mistake_in_the_figures_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "figures.yaml").write_text(content)
    answer = run("--file", str(tmp_path / "figures.yaml"))

    assert answer.exit_code == 1
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    answer = run("--out", str(tmp_path / "no" / "page.md"))

    assert answer.exit_code == 1
    assert answer.stderr.endswith("cannot be written: No such file or directory\n")

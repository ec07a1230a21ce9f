"""A figure's verdict: its own inputs decide first, then the catalogue."""

from typing import Any

import pytest

from planning.money import PlanError
from planning.sources.figure import Document, Figure, FigureKind, Verdict, check
from planning.sources.page import page


def figure(**changes: Any) -> Figure:
    fields: dict[str, Any] = {"kind": FigureKind.COST, "section": "s", "quote": "q", "claimed": 100.0}
    return Figure(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"own": "100"}, Verdict.REPRODUCED),
        ({"own": "100.9"}, Verdict.REPRODUCED),
        ({"own": "101.1"}, Verdict.MISCALCULATED),
        ({"own": "98.9"}, Verdict.MISCALCULATED),
        ({"own": "104", "within": 5}, Verdict.REPRODUCED),
        ({"own": "100", "today": "100"}, Verdict.REPRODUCED),
        ({"own": "100", "today": "80"}, Verdict.STALE),
        # Its own inputs decide first: who miscalculated did so at any price.
        ({"own": "80", "today": "100"}, Verdict.MISCALCULATED),
        ({"today": "80"}, Verdict.STALE),
        ({"today": "100"}, Verdict.REPRODUCED),
        ({"today": "80", "kind": FigureKind.PRICE}, Verdict.STALE),
        # A machine does not change with the years.
        ({"today": "80", "kind": FigureKind.CAPACITY}, Verdict.MISCALCULATED),
        ({"note": "nobody says how"}, Verdict.NOT_REPRODUCIBLE),
        ({"beside": "100", "note": "nobody says how"}, Verdict.NOT_REPRODUCIBLE),
        ({"claimed": -100.0, "own": "-100.5"}, Verdict.REPRODUCED),
    ],
)
def test_the_verdict(changes: dict[str, Any], verdict: Verdict) -> None:
    assert check(figure(**changes)).verdict is verdict


def test_a_figure_without_sums_needs_a_reason() -> None:
    with pytest.raises(PlanError, match="'q': say why it cannot be worked out"):
        figure()


def test_a_sum_needs_a_number_to_be_held_against() -> None:
    with pytest.raises(PlanError, match="'q': what is worked out is held against no number"):
        figure(claimed=None, own="1 + 1")


def test_the_page_counts_verdicts_and_names_the_prices_of_today() -> None:
    figures = (
        figure(own="2 * 50", today="price('p4d.24xlarge')", note="it fell"),
        figure(quote="a | b", note="no inputs"),
    )
    text = page([Document("A title", "Who wrote it.", figures)])

    assert "| A title | 2 | 0 | 1 | 0 | 1 |" in text
    assert "| **all** | **2** | 0 | 1 | 0 | 1 |" in text
    assert "| s | “q” | 2 x 50 = 100 | 21.957642 | **stale**. It fell |" in text
    assert "| s | “a \\| b” | - | - | **not reproducible**. No inputs |" in text
    assert "Prices of today: $21.957642: on-demand, us-east-1, 2026-07-20 (AWS Price List)." in text

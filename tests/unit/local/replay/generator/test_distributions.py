"""Every figure is drawn as it is stated: within its bounds, and as often as its distribution says."""

import random
from math import log
from pathlib import Path
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.replay.generator.distributions import Figure, LogNormal, Uniform
from local.replay.generator.figures import FIGURES, table

DRAWS = 1500
# Kolmogorov and Smirnov: of so many draws one in a million is farther off.
FARTHEST = 2.8 / DRAWS**0.5


def share_below(figure: Figure, value: float) -> float:
    """What the statement says: the share of draws below ``value``."""
    of = figure.of
    if isinstance(of, Uniform):
        return (value - of.low) / (of.high - of.low)
    assert isinstance(of, LogNormal)
    whole = NormalDist(0, of.sigma)
    low, at, high = (whole.cdf(log(each / of.median)) for each in (of.low, value, of.high))
    return (at - low) / (high - low)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_figure_is_drawn_as_it_is_stated(figure: Figure) -> None:
    rng = random.Random(7)  # noqa: S311 - figures, not secrets
    drawn = sorted(figure.draw(rng) for _ in range(DRAWS))

    off = max(abs(share_below(figure, value) - (index + 0.5) / DRAWS) for index, value in enumerate(drawn))
    assert (figure.of.low <= drawn[0], drawn[-1] <= figure.of.high) == (True, True)
    assert off < FARTHEST


@given(
    st.floats(0.1, 1000),
    st.floats(0.01, 3),
    st.floats(0.001, 1),
    st.floats(1, 1000),
    st.integers(),
)
def test_no_log_normal_figure_is_out_of_bounds(median: float, sigma: float, low: float, high: float, seed: int) -> None:
    of = LogNormal(median, sigma, median * low, median * high)
    rng = random.Random(seed)  # noqa: S311 - figures, not secrets
    assert of.low <= of.draw(rng) <= of.high


def test_the_document_states_every_figure() -> None:
    assert table() in Path("docs/benchmark.md").read_text(encoding="utf-8")

"""What a run comes to, on runs whose figures can be worked out by hand."""

import pytest

from fleet.serving.measurement import (
    MeasurementError,
    Sample,
    by_second,
    measure,
    percentile,
    usd_per_million_tokens,
)


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(1, 101)]

    assert [percentile(values, percent) for percent in (50, 95, 99, 100)] == [50, 95, 99, 100]
    assert percentile([7.0], 99) == 7
    assert percentile([1.0, 2.0], 50) == 1


def test_rates_count_answers_in_the_window_and_latencies_what_was_due_in_it() -> None:
    samples = [
        Sample(0.0, 1.5, tokens_in=100, tokens_out=10),  # due before the window, answered in it
        Sample(1.0, 2.0, tokens_in=100, tokens_out=10),
        Sample(2.0, 3.5, tokens_in=100, tokens_out=10),  # answered after it
        Sample(2.5, 2.6, error="HTTP 500"),
    ]
    found = measure(samples, 1.0, 3.0)

    assert (found.answered, found.requests_per_second) == (2, 1.0)
    assert (found.tokens_in_per_second, found.tokens_out_per_second) == (100.0, 10.0)
    assert found.latency_seconds == {"p50": 1.0, "p95": 1.5, "p99": 1.5, "mean": 1.25, "max": 1.5}
    assert found.errors == {"HTTP 500": 1}


def test_a_failure_is_no_fast_answer() -> None:
    found = measure([Sample(0.0, 0.9), *[Sample(0.1, 0.101, error="HTTP 503")] * 99], 0.0, 1.0)

    assert found.latency_seconds["p50"] == 0.9
    assert found.requests_per_second == 1.0


@pytest.mark.parametrize("samples", [[], [Sample(0.0, 0.5, error="timeout")], [Sample(5.0, 6.0)]])
def test_nothing_is_said_of_a_run_without_answers(samples: list[Sample]) -> None:
    with pytest.raises(MeasurementError, match="nothing was answered"):
        measure(samples, 0.0, 1.0)


def test_a_million_tokens_cost_what_the_hours_they_take_do() -> None:
    # 1,000 tokens a second are 3.6 million an hour: at $12.98, $3.61 a million.
    found = measure([Sample(0.0, 0.5, tokens_in=9, tokens_out=1000)], 0.0, 1.0)

    assert usd_per_million_tokens(found, 12.98) == pytest.approx(12.98 / 3.6)


def test_embeddings_sell_what_was_read_and_without_tokens_there_is_no_cost() -> None:
    assert measure([Sample(0.0, 0.5, tokens_in=50)], 0.0, 1.0).tokens_per_second == 50
    assert usd_per_million_tokens(measure([Sample(0.0, 0.5)], 0.0, 1.0), 12.98) is None


def test_a_second_without_answers_has_no_latency() -> None:
    seconds = by_second([Sample(0.0, 0.5), Sample(0.0, 2.5, error="timeout")], 0.0, 3.0)

    assert [(each.requests, each.errors, each.p99) for each in seconds] == [(1, 0, 0.5), (0, 0, None), (0, 1, None)]


def test_a_window_of_whole_seconds_has_so_many_on_any_clock() -> None:
    begin = 3 * 1.1
    end = begin + 3
    assert end - begin > 3

    assert len(by_second([Sample(begin, begin + 2.5)], begin, end)) == 3

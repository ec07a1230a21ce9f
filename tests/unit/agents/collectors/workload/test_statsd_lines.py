"""Lines of StatsD: what they say, and which are refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.collectors.workload.statsd import Sample, parse
from agents.errors import MalformedLineError


@pytest.mark.parametrize(
    ("line", "sample"),
    [
        (b"neuron_fleet.tokens:4096|c", Sample("tokens", (4096.0,), "", "")),
        (b"neuron_fleet.tokens:10|c|@0.1|#job:a,rank:3", Sample("tokens", (100.0,), "a", "3")),
        (b"neuron_fleet.tokens:1:2:3|c|#rank:0,env:x,job:b", Sample("tokens", (1.0, 2.0, 3.0), "b", "0")),
        (b"neuron_fleet.loss:-0.25|g|#job:4e6f#7", Sample("loss", (-0.25,), "4e6f", "")),
        (b"neuron_fleet.loss:1e3|g|c:container|T1656581400", Sample("loss", (1000.0,), "", "")),
        (b"neuron_fleet.step:12|g|@0.5", Sample("step", (12.0,), "", "")),
        (b"neuron_fleet.step_seconds:250|ms", Sample("step_seconds", (0.25,), "", "")),
        (b"neuron_fleet.step_seconds:0.5|h", Sample("step_seconds", (0.5,), "", "")),
        (b"neuron_fleet.checkpoint:1|g|#job", Sample("checkpoint", (1.0,), "", "", "checkpoint")),
        (b"neuron_fleet.phase:1|g|#phase:waiting,minutes:90", Sample("phase", (1.0,), "", "", "waiting", 90.0)),
    ],
)
def test_a_line_says_what_and_for_whom(line: bytes, sample: Sample) -> None:
    assert parse(line) == sample


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1e109", "1e400"])
def test_a_loss_that_is_not_finite_or_beyond_cloudwatch_is_infinite(text: str) -> None:
    sample = parse(f"neuron_fleet.loss:{text}|g".encode())

    # 2^360 is 2.3e108.
    assert sample is not None
    assert sample.values == (math.inf,)


@pytest.mark.parametrize("line", [b"requests:1|c", b"neuron_fleets.loss:1|g", b"_e{5,4}:title|text", b"\xff\xfe"])
def test_a_metric_of_somebody_else_is_no_error(line: bytes) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"neuron_fleet.flops:1|g", "unknown name"),
        (b"neuron_fleet.:1|g", "unknown name"),
        (b"neuron_fleet.tokens", "tokens cannot be of this type"),
        (b"neuron_fleet.tokens:1|g", "tokens cannot be of this type"),
        (b"neuron_fleet.tokens:|c", "a value is no number"),
        (b"neuron_fleet.tokens:1_000|c", "a value is no number"),
        (b"neuron_fleet.tokens:1:x|c", "a value is no number"),
        (b"neuron_fleet.tokens:-1|c", "tokens is out of range"),
        (b"neuron_fleet.tokens:nan|c", "tokens is out of range"),
        (b"neuron_fleet.tokens_per_second:inf|g", "tokens_per_second is out of range"),
        (b"neuron_fleet.tokens:1|c|@0", "the sample rate is out of range"),
        (b"neuron_fleet.tokens:1|c|@2", "the sample rate is out of range"),
        (b"neuron_fleet.phase:1|g|#phase:coffee", "unknown phase"),
        (b"neuron_fleet.phase:1|g", "unknown phase"),
        (b"neuron_fleet.checkpoint:1|g|#minutes:-1", "minutes is out of range"),
        (b"neuron_fleet.checkpoint:1|g|#minutes:soon", "a value is no number"),
        (b"neuron_fleet.tokens:1|c|@nan", "the sample rate is out of range"),
        (b"neuron_fleet.loss:\xff|g", "not UTF-8"),
    ],
)
def test_a_line_of_ours_that_cannot_be_used_says_why(line: bytes, why: str) -> None:
    with pytest.raises(MalformedLineError, match=why):
        parse(line)


def test_a_job_becomes_what_cloudwatch_takes_as_a_dimension() -> None:
    sample = parse("neuron_fleet.step:1|g|#job:caf\u00e9".encode())

    assert sample is not None
    assert sample.job == "caf"


@given(
    name=st.sampled_from(["tokens", "loss", "step_seconds", "checkpoint", "samples_per_second"]),
    rest=st.one_of(
        st.binary(max_size=40),
        st.text(alphabet="0123456789.:|@#ceghmsnaif-+_,job", max_size=40).map(str.encode),
        st.floats().map(lambda value: f":{value}|c|@{value}".encode()),
        st.floats().map(lambda value: f":{value}|g".encode()),
    ),
)
def test_no_line_gives_a_number_that_could_not_be_published(name: str, rest: bytes) -> None:
    try:
        sample = parse(b"neuron_fleet." + name.encode() + rest)
    except MalformedLineError:
        return

    assert sample is not None
    assert sample.name == "loss" or all(0 <= value < 1e25 for value in sample.values)
    assert all(abs(value) <= 2.0**360 or value == math.inf for value in sample.values)

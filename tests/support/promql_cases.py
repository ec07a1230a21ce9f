"""Random series, and random expressions from the grammar that is evaluated, for Prometheus to judge."""

import math
from typing import Final

from hypothesis import strategies as st

from local.alarm_evaluation.promql import labels_of
from tests.support.promql_witness import STALE, Case

MINUTES: Final = 14
# Sums of these are exact, so that no comparison hangs on the last bit.
_VALUES: Final = st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5, -1.0, None, None, STALE, math.nan, math.inf])
_SERIES: Final = st.dictionaries(
    st.builds(
        lambda name, node, job, device: labels_of({"__name__": name, "node": node, "job": job, "device": device}),
        st.sampled_from("mn"),
        st.sampled_from("abc"),
        st.sampled_from(["", "x", "y"]),
        st.sampled_from(["", "0"]),
    ),
    st.lists(_VALUES, min_size=1, max_size=MINUTES),
    min_size=1,
    max_size=7,
)
_MATCHERS: Final = st.sampled_from(
    ["", '{job="x"}', '{job!="x"}', '{node=~"a|b",job=""}', '{node!~"a.*"}', '{job=~"x?",device="0"}', '{node="a"}']
)
_OFFSETS: Final = st.sampled_from(["", "", "", " offset 1m", " offset 90s"])
_NUMBERS: Final = st.sampled_from(["0", "1", "2", "0.5", "-1", "NaN", "Inf", "time()", "(1 + 1)", "(2 > bool 1)"])
_GROUPS: Final = st.sampled_from(["", " by (node)", " by (node, job)", " without (node)", " without (job, device)"])
_MATCHING: Final = st.sampled_from(
    ["", "", "on (node)", "on (job)", "on (node, job)", "ignoring (device)", "ignoring (job, node)", "on ()"]
)
_GROUPED: Final = st.sampled_from(["", "", " group_left ()", " group_right ()", " group_left (job)"])
_OVER_TIME: Final = st.sampled_from(["max", "min", "avg", "sum", "count", "last", "present"])
_RANGES: Final = st.sampled_from(["1m", "2m", "150s", "5m", "10m"])
_AGGREGATED: Final = st.sampled_from(["sum", "min", "max", "avg", "count", "group", "quantile"])
_COMPARED: Final = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
_CALCULATED: Final = st.sampled_from("+-*/%^")
_INSTANT: Final = st.builds("{}{}{}".format, st.sampled_from("mn"), _MATCHERS, _OFFSETS)
_RANGED: Final = st.builds("{}{}[{}]{}".format, st.sampled_from("mn"), _MATCHERS, _RANGES, _OFFSETS)
_LEAVES: Final = st.one_of(
    _INSTANT,
    st.builds("{}_over_time({})".format, _OVER_TIME, _RANGED),
    st.builds("quantile_over_time({}, {})".format, st.sampled_from(["0", "0.5", "0.9", "1", "2", "NaN"]), _RANGED),
    st.builds("absent_over_time({})".format, _RANGED),
    st.builds("timestamp({})".format, _INSTANT),
    st.builds("vector({})".format, _NUMBERS),
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.builds("{} {}{}".format, _CALCULATED | _COMPARED, _MATCHING.filter(bool), _GROUPED)
    compared = st.builds("{} bool {}".format, _COMPARED, _MATCHING)
    chosen = st.builds("{} {}".format, st.sampled_from(["and", "or", "unless"]), _MATCHING)
    between = st.one_of(_CALCULATED, _COMPARED, joined, compared, chosen)
    against = st.one_of(_CALCULATED, _COMPARED, st.builds("{} bool".format, _COMPARED))
    return st.one_of(
        st.builds("({}) {} ({})".format, inner, between, inner),
        st.builds("({}) {} {}".format, inner, against, _NUMBERS),
        st.builds("{} {} ({})".format, _NUMBERS, against, inner),
        st.builds(_aggregation, _AGGREGATED, _GROUPS, inner),
        st.builds("absent({})".format, inner),
        st.builds("-({})".format, inner),
        st.builds("timestamp({})".format, inner),
        st.builds("clamp({}, {}, {})".format, inner, _NUMBERS, _NUMBERS),
        st.builds("clamp_{}({}, {})".format, st.sampled_from(["min", "max"]), inner, _NUMBERS),
        st.builds("{}_over_time(({})[{}:{}])".format, _OVER_TIME, inner, _RANGES, st.sampled_from(["1m", "40s"])),
    )


def _aggregation(operator: str, group: str, inner: str) -> str:
    parameter = "0.7, " if operator == "quantile" else ""
    return f"{operator}{group} ({parameter}{inner})"


EXPRESSIONS: Final = st.recursive(_LEAVES, _larger, max_leaves=4)
CASES: Final = st.builds(
    Case,
    _SERIES,
    st.lists(
        st.tuples(EXPRESSIONS, st.integers(0, MINUTES + 6).map(lambda minute: minute * 60) | st.integers(0, 1100)),
        min_size=12,
        max_size=12,
    ),
)

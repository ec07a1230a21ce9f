"""PromQL as far as the alarms' rules use it, and the contributors of PromQL alarms, off AWS.

An expression is read by the library ``promql-parser`` and evaluated here; whatever is not evaluated is refused by name.
Prometheus itself is the judge: ``promtool test rules`` gives the same series at every minute of the corpus.
"""

from local.alarm_evaluation.promql.evaluation import LOOKBACK_SECONDS, Evaluation
from local.alarm_evaluation.promql.nodes import Labels, Node, PromqlError, Selector, Vector, labels_of, selectors_in
from local.alarm_evaluation.promql.store import SeriesStore
from local.alarm_evaluation.promql.syntax import parse

__all__ = [
    "LOOKBACK_SECONDS",
    "Evaluation",
    "Labels",
    "Node",
    "PromqlError",
    "Selector",
    "SeriesStore",
    "Vector",
    "labels_of",
    "parse",
    "selectors_in",
]

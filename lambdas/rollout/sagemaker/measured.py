"""What CloudWatch knows of either variant: invocations, 5xx and p99 by the minute."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC

from fleet.hosting import variants
from fleet.hosting.variants import VariantNames
from fleet.rollout.facts import Minute, RolloutPlace, Side, SidePlace
from lambdas.rollout.ports import Window
from lambdas.rollout.sides.measured import CloudWatchFigures, Series, query

_REQUESTS, _ERRORS, _P99 = "requests", "errors", "p99"
_REFUSED, _NOT_GOOD = "refused", "not_good"
# The model's own time: SageMaker's overhead is the same for both variants and would hide what differs between them.
_OF_VARIANT = {
    _REQUESTS: (variants.INVOCATIONS, "Sum"),
    _ERRORS: (variants.ERRORS_5XX, "Sum"),
    _REFUSED: (variants.ERRORS_4XX, "Sum"),
    _NOT_GOOD: (variants.MODEL_ERRORS, "Sum"),
    _P99: (variants.MODEL_LATENCY, "p99"),
}


class VariantFigures(CloudWatchFigures):
    """CloudWatch; alarms are those of every endpoint."""

    def add_to(self, side: Side, place: RolloutPlace, of: SidePlace, tasks: tuple[str, ...], during: Window) -> Side:
        """``side`` with its minutes in that time. Executions and dollars for tokens nobody measures there."""
        start = during[0].astimezone(UTC).replace(second=0, microsecond=0)
        dimensions = dict(VariantNames(of.cluster, of.service).dimensions)
        queries = [
            query(key, variants.NAMESPACE, name, statistic, dimensions)
            for key, (name, statistic) in _OF_VARIANT.items()
        ]
        found = self._ask(queries, start, during[1])
        requests, errors, p99 = found.get(_REQUESTS, {}), _failed(found), found.get(_P99, {})
        return replace(
            side,
            minutes=tuple(
                Minute(
                    at=at,
                    requests=int(requests.get(at, 0)),
                    errors=int(errors.get(at, 0)),
                    p99=p99[at] / variants.MICROSECONDS if at in p99 else None,
                )
                for at in sorted({*requests, *errors})
            ),
        )


def _failed(found: Mapping[str, Series]) -> Series:
    """5xx, and what the model never answered: a container that hangs or dies has given no 5xx."""
    errors, refused, not_good = (found.get(key, {}) for key in (_ERRORS, _REFUSED, _NOT_GOOD))
    minutes = {*errors, *not_good}
    return {at: max(errors.get(at, 0.0), not_good.get(at, 0.0) - refused.get(at, 0.0)) for at in minutes}

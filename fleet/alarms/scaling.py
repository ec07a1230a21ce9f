"""An endpoint that scales: is it full with all its nodes; and what of it is silent while it sleeps and wakes."""

from collections.abc import Sequence
from dataclasses import replace

from fleet import auto_scaling
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.settings import AlarmSettings
from fleet.alarms.specs import AlarmSpec, AllOf, Area, Comparison, CompositeSpec, InAlarm, Not, TreatMissingData
from fleet.load_balancer import EndpointNames
from fleet.serving.scaling import Scaling
from fleet.serving.scaling_policies import fullness, most_of, only_where_known, tracked

_SEEN = "Seen"


def endpoint_saturated(settings: AlarmSettings, names: EndpointNames, scaling: Scaling) -> AlarmSpec:
    """Above a target with as many nodes as the file allows: from here on the load makes requests wait."""
    shares, series = fullness(scaling, settings.environment, settings.fleet)
    queries = (*series, ("desired", _desired(names)))
    queue = tracked(scaling, settings.environment, settings.fleet).get("queue_seconds")
    if queue is not None:
        # Nobody who waited is no wait.
        shares, queries = (*shares, f"FILL(waited, 0) / {queue.target:g}"), (*queries, ("waited", queue.metric))
    expression = f"IF(desired >= {scaling.most}, {most_of(shares)}, 0)"
    return settings.about(Area.ENDPOINT).ticket(
        "EndpointSaturated",
        summary=f"The endpoint's load is above its target, and all {scaling.most} nodes it may have are asked for.",
        action="Raise the fleet's nodes if they can be had, or take load off; look at the endpoint's dashboard first.",
        metric=MathRef(only_where_known(expression, (name for name, _ in series)), queries),
        comparison=Comparison.ABOVE,
        threshold=1,
        datapoints=(15, 20),
        silence=TreatMissingData.NOT_BREACHING,
    )


def awake_only(
    settings: AlarmSettings, names: EndpointNames, scaling: Scaling, specs: Sequence[AlarmSpec]
) -> tuple[AlarmSpec | CompositeSpec, ...]:
    """``specs`` of an endpoint that may have no node: each as a silent part, and as itself when it is not asleep.

    An endpoint that has been asked for within its warm-up is asleep still: it refuses requests, and should. After that
    it is one that does not wake up, and pages as any other.
    """
    asleep = settings.about(Area.ENDPOINT).ticket(
        "AsleepLately",
        summary=f"Within {scaling.warm_up_minutes} minutes the endpoint was to have no node.",
        action="Nothing: alarms on its targets wait for it to wake up.",
        metric=_desired(names),
        comparison=Comparison.BELOW,
        threshold=1,
        datapoints=(1, scaling.warm_up_minutes),
        silence=TreatMissingData.NOT_BREACHING,
        notifies=False,
    )
    parts = [replace(spec, key=f"{spec.key}{_SEEN}", notifies=False) for spec in specs]
    composites = [
        CompositeSpec.in_place_of(spec, AllOf((InAlarm(part), Not(InAlarm(asleep)))))
        for spec, part in zip(specs, parts, strict=True)
    ]
    return (asleep, *parts, *composites)


def _desired(names: EndpointNames) -> MetricRef:
    return MetricRef(auto_scaling.NAMESPACE, auto_scaling.DESIRED, "Minimum", auto_scaling.dimensions(names.node_group))

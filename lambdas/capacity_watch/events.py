"""What is written of a fleet each minute: one log event that CloudWatch also reads metrics from.

By hand and not through Powertools, whose figures would be lists and whose event could not be one without metrics.
Source: "Specification: Embedded metric format" in the CloudWatch User Guide.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from fleet import metrics
from fleet.instances import Price
from fleet.metrics import MetricSpec
from fleet.reserved.assessment import Assessment
from fleet.reserved.observed import Reservation
from lambdas.capacity_watch.service import Look

SCHEMA: Final = 1
KIND: Final = "capacity"


def event(
    look: Look, now: datetime, *, interruptions: int = 0, interrupted: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The event of a fleet; None when it could not be seen, for what is not known is absent.

    ``interruptions`` are counted by this event; ``interrupted`` are the instances that EC2 said lately that it takes
    back.
    """
    if look.assessment is None:
        return None
    place, minute = look.place, now.replace(second=0, microsecond=0)
    figures = _figures(look, look.assessment, interruptions)
    return {
        "_aws": {
            "Timestamp": int(minute.timestamp()) * 1000,
            "CloudWatchMetrics": [
                {
                    "Namespace": metrics.NAMESPACE,
                    "Dimensions": [list(metrics.FLEET_DIMENSIONS)],
                    "Metrics": [{"Name": spec.name, "Unit": spec.unit.value} for spec in figures],
                }
            ],
        },
        metrics.ENVIRONMENT: place.environment,
        metrics.FLEET: place.fleet,
        **{spec.name: value for spec, value in figures.items()},
        "schema": SCHEMA,
        "kind": KIND,
        "environment": place.environment,
        "fleet": place.fleet,
        "minute": _utc(minute),
        "owner": place.owner,
        "instance_type": place.instance_type,
        "market": place.market.value,
        "wanted": place.nodes,
        **_known(_story(look.assessment, interrupted)),
        "reservations": [_reservation(each) for each in look.reservations],
    }


def _figures(look: Look, assessment: Assessment, interruptions: int) -> dict[MetricSpec, int | float]:
    figures = {
        metrics.RESERVED_INSTANCES: assessment.reserved,
        metrics.UNUSED_RESERVED_INSTANCES: assessment.unused,
        metrics.UNUSED_RESERVATION_USD_PER_HOUR: assessment.unused_usd_per_hour,
        metrics.MISSING_NODES: assessment.missing,
        metrics.STALE_PRICE: int(assessment.price_stale is not None),
        metrics.PRESENT_NODES: assessment.present,
        metrics.SILENT_NODES: assessment.silent,
        metrics.JOB_CORES_APART: look.job_cores_apart,
        metrics.CAPACITY_BLOCK_MINUTES_LEFT: assessment.block_minutes_left,
        metrics.SPOT_INTERRUPTIONS: interruptions or None,
    }
    return {spec: value for spec, value in figures.items() if value is not None}


def _story(assessment: Assessment, interrupted: Sequence[str]) -> dict[str, Any]:
    reason = assessment.reason
    if interrupted:
        reason = "; ".join(filter(None, (f"EC2 takes back {', '.join(interrupted)} (Spot)", reason)))
    return {
        "reserved": assessment.reserved,
        "used": assessment.used,
        "unused": assessment.unused,
        "missing": assessment.missing,
        "present": assessment.present,
        "silent": assessment.silent,
        "reason": reason,
        "action": assessment.action,
        "price": None if assessment.price is None else _price(assessment.price),
        "price_stale": assessment.price_stale,
        "unused_usd_per_hour": assessment.unused_usd_per_hour,
        "ends_at": None if assessment.ends_at is None else _utc(assessment.ends_at),
        "interrupted": list(interrupted) or None,
    }


def _reservation(seen: Reservation) -> dict[str, Any]:
    return _known(
        {
            "id": seen.reservation_id,
            "state": seen.state,
            "total": seen.total,
            "available": seen.available,
            "ends_at": None if seen.ends_at is None else _utc(seen.ends_at),
        }
    )


def _price(price: Price) -> dict[str, Any]:
    return {
        "usd_per_hour": price.usd_per_hour,
        "kind": price.kind.value,
        "source": price.source,
        "as_of": price.as_of,
    }


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"

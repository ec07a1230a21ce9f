"""PutMetricData: the API's documented limits, checked before anything is stored, so that a wrong agent fails loudly.

Source: PutMetricData and MetricDatum in the CloudWatch API reference.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.emulator.cloudwatch.errors import ApiError, invalid, missing
from local.emulator.cloudwatch.metric_store import MetricStore

MAX_DATUMS: Final = 1000
MAX_VALUES: Final = 150
MAX_DIMENSIONS: Final = 30
OLDEST_SECONDS: Final = 14 * 24 * 3600
NEWEST_SECONDS: Final = 2 * 3600
LARGEST: Final = 2.0**360
UNITS: Final = frozenset(
    ["Seconds", "Microseconds", "Milliseconds", "Percent", "Count", "None"]
    + [f"{size}{kind}" for size in ("", "Kilo", "Mega", "Giga", "Tera") for kind in ("bytes", "bits") if size]
    + ["Bytes", "Bits", "Count/Second", "Bytes/Second", "Bits/Second"]
    + [f"{size}{kind}/Second" for size in ("Kilo", "Mega", "Giga", "Tera") for kind in ("bytes", "bits")]
)


def put_metric_data(store: MetricStore, request: Mapping[str, Any], now: float) -> None:
    """Check the whole request, then store it; raises ``ApiError`` and stores nothing when a datum is wrong."""
    namespace = request.get("Namespace")
    if not namespace:
        raise missing("Namespace")
    if len(namespace) > 255 or namespace.startswith(":"):
        raise invalid(f"Namespace {namespace[:40]!r}: 1 to 255 characters, and not a leading colon")
    if namespace.startswith("AWS/"):
        raise invalid(f"The value {namespace} for parameter Namespace is invalid: AWS/ is reserved.")
    data = request.get("MetricData") or []
    if not data:
        raise missing("MetricData")
    if len(data) > MAX_DATUMS:
        raise ApiError("RequestEntityTooLarge", f"MetricData holds {len(data)} metrics; the limit is {MAX_DATUMS}", 413)
    checked = [_checked(namespace, datum, f"MetricData.member.{at}", now) for at, datum in enumerate(data, start=1)]
    for key, timestamp, unit, datum in checked:
        store.put(key, timestamp, unit, datum)


def _checked(namespace: str, raw: Mapping[str, Any], at: str, now: float) -> tuple[SeriesKey, float, str, Datum]:
    name = raw.get("MetricName")
    if not name:
        raise missing(f"{at}.MetricName")
    if len(name) > 255:
        raise invalid(f"{at}.MetricName has {len(name)} characters; the limit is 255")
    unit = raw.get("Unit", "None")
    if unit not in UNITS:
        raise invalid(f"{at}.Unit {unit!r} is not a CloudWatch unit")
    timestamp = float(raw.get("Timestamp", now))
    if not now - OLDEST_SECONDS <= timestamp <= now + NEWEST_SECONDS:
        raise invalid(f"{at}.Timestamp {timestamp:.0f} must be within two weeks before and two hours after {now:.0f}")
    key = SeriesKey.of(namespace, name, _dimensions(raw.get("Dimensions") or [], at))
    return key, timestamp, unit, _datum(raw, at)


def _dimensions(dimensions: Sequence[Mapping[str, str]], at: str) -> Sequence[Mapping[str, str]]:
    if len(dimensions) > MAX_DIMENSIONS:
        raise invalid(f"{at}.Dimensions has {len(dimensions)} entries; the limit is {MAX_DIMENSIONS}")
    names = [dimension.get("Name", "") for dimension in dimensions]
    if len(set(names)) != len(names):
        raise invalid(f"{at}.Dimensions names a dimension twice: {names}")
    for dimension in dimensions:
        name, value = dimension.get("Name", ""), dimension.get("Value", "")
        if not 1 <= len(name) <= 255 or name.startswith(":") or not 1 <= len(value) <= 1024 or not value.strip():
            raise invalid(f"{at}.Dimensions {name[:40]!r}={value[:40]!r}: name 1 to 255, value 1 to 1024 characters")
    return dimensions


def _datum(raw: Mapping[str, Any], at: str) -> Datum:
    given = [each for each in ("Value", "Values", "StatisticValues") if raw.get(each) is not None]
    if len(given) != 1:
        raise ApiError(
            "InvalidParameterCombination",
            f"{at} must hold exactly one of Value, Values, StatisticValues; it has {given}",
        )
    if given == ["StatisticValues"]:
        return _statistic_set(raw["StatisticValues"], at)
    values = [raw["Value"]] if given == ["Value"] else raw["Values"]
    counts = raw.get("Counts")
    if not 1 <= len(values) <= MAX_VALUES:
        raise invalid(f"{at}.Values has {len(values)} entries; 1 to {MAX_VALUES} are allowed")
    if counts is not None and len(counts) != len(values):
        raise invalid(f"{at}.Counts has {len(counts)} entries for {len(values)} Values")
    numbers = [_number(value, f"{at}.Value") for value in values]
    return Datum.of_values(numbers, None if counts is None else [_number(count, f"{at}.Counts") for count in counts])


def _statistic_set(raw: Mapping[str, Any], at: str) -> Datum:
    absent = [each for each in ("SampleCount", "Sum", "Minimum", "Maximum") if raw.get(each) is None]
    if absent:
        raise missing(f"{at}.StatisticValues.{absent[0]}")
    datum = Datum(
        sample_count=_number(raw["SampleCount"], f"{at}.StatisticValues.SampleCount"),
        total=_number(raw["Sum"], f"{at}.StatisticValues.Sum"),
        minimum=_number(raw["Minimum"], f"{at}.StatisticValues.Minimum"),
        maximum=_number(raw["Maximum"], f"{at}.StatisticValues.Maximum"),
    )
    if datum.sample_count <= 0 or datum.minimum > datum.maximum:
        raise invalid(f"{at}.StatisticValues: SampleCount must be positive and Minimum at most Maximum")
    return datum


def _number(value: object, at: str) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > LARGEST:
        raise invalid(f"{at} {value!r} is not a finite number within -2^360 to 2^360")
    return float(value)

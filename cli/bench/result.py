"""The result of a run as a file, which `fleet plan compare --option bench=FILE` reads again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from cli.bench.load import Load
from fleet.fleet_spec import MarketKind
from fleet.instances import Price
from fleet.serving.measurement import Measurement, usd_per_million_tokens
from planning.money import PlanError

KIND: Final = "fleet-bench-endpoint"
SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Served:
    """What served: ``instances`` of ``instance_type``, at ``price`` an hour each in ``market``; None: not known."""

    instance_type: str
    instances: int
    region: str
    market: MarketKind
    price: Price | None

    def usd_per_million_tokens(self, measurement: Measurement) -> float | None:
        """None where the price or the tokens are not known."""
        if self.price is None:
            return None
        return usd_per_million_tokens(measurement, self.price.usd_per_hour * self.instances)


def content(load: Load, measurement: Measurement, served: Served | None, at: str) -> dict[str, Any]:
    """As JSON; ``at`` is when it began, UTC."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "at": at,
        "load": asdict(load),
        **asdict(measurement),
        "tokens_per_second": measurement.tokens_per_second,
        "served": None
        if served is None
        else {**asdict(served), "usd_per_million_tokens": served.usd_per_million_tokens(measurement)},
    }


def option_fields(path: str) -> Mapping[str, str]:
    """What a result says of an option of `fleet plan compare`: type, instances, region, market, throughput in tokens.

    Raises:
        PlanError: it cannot be read, is no result, or does not say what served.
    """
    try:
        found = msgspec.json.decode(Path(path).read_bytes())
        if not isinstance(found, dict) or (found.get("kind"), found.get("schema")) != (KIND, SCHEMA):
            raise PlanError(f"bench={path}: not a result of `fleet bench endpoint --json`")
        served, rate = found["served"], float(found["tokens_per_second"])
        if served is None:
            raise PlanError(f"bench={path}: does not say what served; measure with --type")
        return {
            "type": str(served["instance_type"]),
            "instances": str(served["instances"]),
            "region": str(served["region"]),
            # Results of before do not have it: then the default of that command counts.
            **({"market": str(served["market"])} if "market" in served else {}),
            "throughput": str(rate),
        }
    except OSError as error:
        raise PlanError(f"bench={path}: {error.strerror}") from error
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError(f"bench={path}: not a result of `fleet bench endpoint --json`: {error}") from error

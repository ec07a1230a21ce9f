"""What stands for the capacity watch and the engine in virtual hours."""

from datetime import UTC, datetime

from environments import loader
from local.demo import service_metrics
from local.deployment import ENVIRONMENT

# 1,000 minutes before the Capacity Block of the local environment ends, at 2026-12-18 11:30 UTC.
MINUTE = datetime(2026, 12, 17, 18, 50, tzinfo=UTC).timestamp()


def test_every_fleet_has_its_capacity_and_every_function_has_looked() -> None:
    written = service_metrics.datums(loader.load(ENVIRONMENT), MINUTE)

    operations = {datum["name"]: datum["values"] for datum in written["NeuronFleet/Operations"]}
    assert operations == {
        "CapacityWatchProblems": [0.0],
        "LedgerProblems": [0.0],
        "CapacityBlockProblems": [0.0],
        "DeploymentsInProgress": [0.0],
    }
    fleets: dict[str, dict[str, object]] = {}
    for datum in written["NeuronFleet"]:
        dimensions = datum["dimensions"]
        assert isinstance(dimensions, dict)
        fleets.setdefault(dimensions["Fleet"], {})[str(datum["name"])] = datum["values"]
    there = {"MissingNodes": [0.0], "SilentNodes": [0.0], "StalePrice": [0.0]}
    idle = {
        **there,
        "UnusedReservedInstances": [0.0],
        "UnusedReservationUsdPerHour": [0.0],
    }
    assert fleets == {
        "trn1-pretrain": {**idle, "PresentNodes": [4.0], "ReservedInstances": [4.0]},
        "trn2-frontier": {
            **idle,
            "PresentNodes": [2.0],
            "ReservedInstances": [2.0],
            "CapacityBlockMinutesLeft": [1000.0],
        },
        "inf2-chat": {**there, "PresentNodes": [2.0]},
    }

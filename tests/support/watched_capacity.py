"""Fleets and what AWS shows of them, for tests of the capacity watch: sound ones, to be changed by each test."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet.fleet_spec import MarketKind
from fleet.reserved.observed import Activity, Batch, FleetDeployment, Job, Member, Node, Reservation, ScalingGroup

NOW = datetime(2026, 11, 21, 10, 3, 20, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=2)
HEALTHY_BATCH = Batch("ENABLED", "VALID", "ComputeEnvironment Healthy", 0, 0, 2048)


def place(**changes: Any) -> FleetDeployment:
    """Sixteen trn1 nodes on a reservation that is made with the fleet."""
    made = FleetDeployment(
        environment="prod",
        fleet="pretrain",
        owner="foundation-models",
        instance_type="trn1.32xlarge",
        region="us-east-2",
        market=MarketKind.RESERVATION,
        nodes=16,
        vcpus=128,
        zone="us-east-2c",
        own_group="neuron-fleet-prod-pretrain",
        reservation_stack="neuron-fleet-prod-reservation-pretrain",
        compute_environment="arn:aws:batch:us-east-2:111122223333:compute-environment/pretrain",
        queue="arn:aws:batch:us-east-2:111122223333:job-queue/pretrain",
    )
    return replace(made, **changes)


def named(**changes: Any) -> FleetDeployment:
    """The same fleet on an existing reservation."""
    return place(**{"own_group": None, "reservation_stack": None, "reservation_id": "cr-1", **changes})


def block_place(**changes: Any) -> FleetDeployment:
    """Eight trn2 nodes in a Capacity Block."""
    block = {
        "instance_type": "trn2.48xlarge",
        "market": MarketKind.CAPACITY_BLOCK,
        "nodes": 8,
        "vcpus": 192,
        "zone": "us-east-2a",
    }
    return named(**{**block, **changes})


def on_demand(**changes: Any) -> FleetDeployment:
    """The same fleet, bought by the second."""
    return place(**{"own_group": None, "reservation_stack": None, "market": MarketKind.ON_DEMAND, **changes})


def endpoint(**changes: Any) -> FleetDeployment:
    """Four inf2 nodes of an Auto Scaling group, over all zones."""
    group = {
        "instance_type": "inf2.48xlarge",
        "nodes": 4,
        "vcpus": 192,
        "zone": None,
        "compute_environment": None,
        "queue": None,
        "auto_scaling_group": "chat",
    }
    return on_demand(**{**group, **changes})


def reservation(**changes: Any) -> Reservation:
    """Sixteen trn1 instances, active, all in use."""
    arn = "arn:aws:ec2:us-east-2:111122223333:capacity-reservation/"
    made = Reservation("cr-1", f"{arn}cr-1", "active", "trn1.32xlarge", "us-east-2c", 16, 0, created_at=LONG_AGO)
    changed = replace(made, **changes)
    return replace(changed, arn=arn + changed.reservation_id)


def block(**changes: Any) -> Reservation:
    """Eight trn2 instances until 23 November at 11:30, all in use."""
    eight = {
        "instance_type": "trn2.48xlarge",
        "zone": "us-east-2a",
        "total": 8,
        "is_block": True,
        "starts_at": datetime(2026, 11, 20, 11, 30, tzinfo=UTC),
        "ends_at": datetime(2026, 11, 23, 11, 30, tzinfo=UTC),
    }
    return reservation(**{**eight, **changes})


def nodes(count: int, reservation_id: str | None = None, launched_at: datetime = LONG_AGO) -> tuple[Node, ...]:
    """So many running nodes."""
    return tuple(Node(f"i-{index}", launched_at, reservation_id) for index in range(count))


def batch(*waiting: Job, **changes: Any) -> Batch:
    """A healthy compute environment with jobs that wait."""
    return replace(HEALTHY_BATCH, waiting=waiting, **changes)


def job(words: str = "", *, count: int = 16, waits: timedelta = timedelta(minutes=5)) -> Job:
    """A job that waits, and why."""
    return Job("job-1", count, NOW - waits, words)


def group(in_service: int, *launches: Activity, desired: int = 4, pending: int = 0) -> ScalingGroup:
    """An Auto Scaling group; pending members come after those in service, by the ids of ``nodes``."""
    states = ["InService"] * in_service + ["Pending"] * pending
    return ScalingGroup(desired, tuple(Member(f"i-{index}", state) for index, state in enumerate(states)), launches)

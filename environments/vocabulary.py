"""What a kind of file knows: its keys, those of its parts, and what must stand behind a key, in words for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from environments import (
    budgets,
    clients,
    endpoints,
    fleets,
    maintenance,
    markets,
    model,
    monitoring,
    network,
    paging,
    rollouts,
    scaling,
)
from fleet.fleet_spec import MarketKind, Purpose

# The last named part of a pydantic location, which for a union is the member's tag, against the model found there.
_MODELS: Final[dict[str, type[BaseModel]]] = {
    "network": network.Network,
    "training": fleets.TrainingFleet,
    "inference": fleets.InferenceFleet,
    "on-demand": markets.OnDemand,
    "spot": markets.Spot,
    "reservation": markets.Reservation,
    "capacity-block": markets.CapacityBlock,
    "alarms": fleets.FleetAlarms,
    "each": fleets.OneAlarm,
    "price": fleets.NegotiatedRate,
    "endpoint": endpoints.Endpoint,
    "clients": clients.Clients,
    "artifact": endpoints.CompiledModel,
    "sagemaker": endpoints.SageMaker,
    "rollout": rollouts.Rollout,
    "gates": rollouts.RolloutGates,
    "warm_pool": scaling.WarmPool,
    "shadow": rollouts.Shadow,
    "scaling": scaling.Scaling,
    "targets": scaling.ScalingTargets,
    "paging": paging.Paging,
    "routes": paging.To,
    **paging.KINDS,
    "monitoring": monitoring.Monitoring,
    "budgets": budgets.Budgets,
    "prometheus": monitoring.Prometheus,
    "gate": fleets.Gate,
    "pool": fleets.Pool,
    "maintenance": maintenance.Window,
}

_NETWORK: Final = "an IPv4 network without host bits, such as 10.20.0.0/16"
# By the key that they stand behind; of an item in a list, that of the list and [].
_FORMS: Final = {
    "account": 'twelve digits in quotes, such as "111122223333"',
    "region": "a region such as us-east-2",
    "name": "2 to 31 small letters, digits and dashes, starting with a letter",
    "reservation_id": "a reservation's id, such as cr-0a1b2c3d4e5f60718",
    "resource_group": "a resource group's ARN, such as arn:aws:resource-groups:us-east-2:111122223333:group/trn1",
    "neuron_sdk": 'a Neuron SDK in quotes, such as "2.28"',
    "steps": "percents that rise and end at 100, such as [5, 25, 50, 100]",
    "state": "stopped: a running node costs what one that serves does, and Neuron nodes cannot hibernate",
    "addresses": "e-mail addresses, such as [oncall@example.com]",
    "cidr": _NETWORK,
    "clients": "the networks that call, such as {cidrs: [10.50.0.0/16]}",
    "cidrs": f"a list of at most {clients.MOST_NETWORKS} IPv4 networks, such as [10.50.0.0/16, 203.0.113.0/24]",
    "cidrs[]": _NETWORK,
}
for _moment in ("starts_at", "ends_at", "end_date"):
    _FORMS[_moment] = "a moment with its time zone, such as 2026-12-18T11:30:00Z"
# By the key that says which of several shapes a part has, and the key that the part stands behind.
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "market.kind": tuple(MarketKind),
    "purpose": tuple(Purpose),
    "destinations[].kind": tuple(paging.KINDS),
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a kind of file knows: its model, those of its parts by the keys that lead to them, and an example."""

    root: type[BaseModel]
    parts: Mapping[str, type[BaseModel]]
    example: str
    forms: Mapping[str, str] = field(default_factory=dict)
    """What must stand behind a key, for people."""


ENVIRONMENT: Final = Vocabulary(model.Environment, _MODELS, "environments/prod.yaml", _FORMS)

"""What an environment file may hold, key by key: for each kind of fleet its smallest form, and values for every key.

The tables have a row for each key: where it stands, values that are meant to be sound, and values that may be refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

ACCOUNT: Final = "111122225555"
REGION: Final = "us-east-2"
REGISTRY: Final = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com"
DIGEST: Final = "sha256:3f0a1c5be2d94b7786c1f25a0d9e8b3c4a6172f85e0d3c9b8a7f6e5d4c3b2a10"
CERTIFICATE: Final = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/11111111-2222-3333-4444-555555555555"
GROUP: Final = f"arn:aws:resource-groups:{REGION}:{ACCOUNT}:group/trn1"
ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/on-call/Lead+1@example.com"
LONG: Final = "abcdefghijklmnopqrstuvwxyz-0123"
"""As long as a name may be."""

TRAINING: Final[dict[str, Any]] = {
    "purpose": "training", "owner": "ml", "instance_type": "trn1.32xlarge", "nodes": 2,
    "availability_zone": "us-east-2c",
    "container_image": f"{REGISTRY}/training:dev", "market": {"kind": "on-demand"},
}  # fmt: skip
SERVING: Final[dict[str, Any]] = {
    "purpose": "inference", "owner": "ml", "instance_type": "inf2.8xlarge", "nodes": 2, "market": {"kind": "on-demand"},
    "framework": "nxd-inference", "neuron_sdk": "2.28",
    "endpoint": {"container_image": f"{REGISTRY}/chat@{DIGEST}", "certificate_arn": CERTIFICATE, "devices_per_task": 1},
}  # fmt: skip
HOSTED: Final[dict[str, Any]] = {
    **SERVING,
    "endpoint": {"engine": "sagemaker", "container_image": f"{REGISTRY}/chat@{DIGEST}", "devices_per_task": 1},
}
FLEETS: Final[dict[str, dict[str, Any]]] = {
    "batch": TRAINING,
    "pool": {**TRAINING, "engine": "pool", "market": {"kind": "spot"}},
    "reservation": {**TRAINING, "market": {"kind": "reservation"}},
    "block": {
        **TRAINING,
        "instance_type": "trn2.48xlarge",
        "availability_zone": "us-east-2a",
        "market": {
            "kind": "capacity-block",
            "reservation_id": "cr-0a1b2c3d4e5f60718",
            "ends_at": "2026-12-18T11:30:00Z",
        },
    },
    "endpoint": SERVING,
    "scaled": {
        **SERVING,
        "endpoint": {
            **SERVING["endpoint"],
            "scaling": {"min_nodes": 1, "targets": {"core_utilization_percent": 60}},
        },
    },
    "hosted": HOSTED,
}
"""One fleet of each kind, as small as it can be written."""

TRAINS: Final = ("batch", "pool", "reservation", "block")
ON_NODES: Final = (*TRAINS, "endpoint", "scaled")
SERVES: Final = ("endpoint", "scaled")
ALL: Final = (*ON_NODES, "hosted")


@dataclass(frozen=True, slots=True)
class Option:
    """One key: the kinds of fleets that it is of (none: it is the environment's), and what it may hold."""

    path: str
    sound: Sequence[Any]
    odd: Sequence[Any] = ()
    kinds: tuple[str, ...] = ()


ODD_TEXT: Final = ("a b", "ü", "${AWS::Region}", "{{resolve:ssm:x}}", "x" * 300, "", "a'b\"c", "a<b>")
OWNERS: Final = ("team one", "a.b_c:d/e=f+g-h@i", "x" * 256)


def fleet_option(path: str, sound: Sequence[Any], odd: Sequence[Any] = (), kinds: tuple[str, ...] = ALL) -> Option:
    return Option(path, sound, odd, kinds)

"""A chip and a type that nobody sells, with every fact that the data file has to state of them.

``planted`` puts them into the catalogue, as an entry of the file would.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from fleet import instances
from tests.support.templates import PROJECT_FOLDER

NAME: Final = "trn9.48xlarge"
FILE: Final = PROJECT_FOLDER / "fleet/data/instances.json"
CORE: Final = {
    "generation": 9,
    "tensor_engine_tflops": {"bf16": 400.0, "fp8": 800.0},
    "first_sdk": "3.4",
    "last_driver": None,
    "splits_models": True,
    "frameworks": {
        "nxd-inference": {"sdks": None, "maintenance": None, "source": "invented"},
        "nxd-training": {"sdks": None, "maintenance": None, "source": "invented"},
        "torch-xla": {
            "sdks": {"first": None, "last": None},
            "maintenance": {"purpose": "inference", "since": "3.6", "fix": "serve with vllm"},
            "source": "invented",
        },
        "vllm": {"sdks": {"first": "3.5", "last": None}, "maintenance": None, "source": "invented"},
        "jax": {"sdks": {"first": None, "last": "3.9"}, "maintenance": None, "source": "invented"},
    },
}
CHIP: Final = {
    "vendor": "aws",
    "neuroncore_version": "v9",
    "cores": 8,
    "memory_gib": 200,
    "lnc_supported": [1, 2, 4],
    "default_lnc": 4,
    "peak_tflops": {"bf16": 3200},
    "trains": True,
    "tensor_groups_stay_on_chip": True,
    "monitor": {"device_type": "trainium9", "device_version": "v10"},
}
TYPE: Final = {
    "accelerator": "Trainium9",
    "devices": 16,
    "vcpus": 192,
    "memory_gib": 4096.0,
    "nvme_gb": 7600,
    "network_cards": 4,
    "enis_per_card": 2,
    "efa_interfaces": 4,
    "efa_generation": "v5",
    "usage_classes": ["capacity-block", "on-demand"],
    "regions": ["us-east-2", "us-west-2"],
    "availability_zone_ids": ["use2-az1", "use2-az3"],
    "offerings_as_of": "2030-01-01",
    "capacity_block_regions": ["us-east-2"],
    "quotas": {"on-demand": "L-00000009", "spot": None},
    "on_demand_obtainable": False,
    "ultraserver_nodes": 2,
    "sagemaker_hosting_quota": "L-00000010",
    "prices": [
        {
            "kind": "capacity-block",
            "usd_per_hour": 90.0,
            "region": "us-east-2",
            "as_of": "2030-01-01",
            "source": "invented",
        }
    ],
}
_ADDED: Final = {
    "neuroncores": {"v9": CORE},
    "accelerators": {"Trainium9": CHIP},
    "quota_names": {"L-00000009": "Running On-Demand Trn9 instances"},
    "sources": {"invented": {"label": "Invented", "provenance": "a price that nobody asks"}},
    "instances": {NAME: TYPE},
}
Place = tuple[str | int, ...]
# A figure for each data type that somebody has documented, and no more: one that is not there is said by a rule.
_OPEN: Final = {"tensor_engine_tflops", "peak_tflops"}


def with_chip(changes: Mapping[Place, Any] | None = None) -> dict[str, Any]:
    """The data file with the chip in it; ``changes`` put values at places of it."""
    data: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    for section, entries in _ADDED.items():
        data[section].update(copy.deepcopy(entries))
    for (*way, last), value in (changes or {}).items():
        _at(data, way)[last] = value
    return data


def without(place: Place) -> dict[str, Any]:
    """The same with one fact left out."""
    data = with_chip()
    *way, last = place
    del _at(data, way)[last]
    return data


def places() -> Iterator[Place]:
    """Every fact that is stated of the chip, as its place in the data file; outer ones too."""
    for section, entries in _ADDED.items():
        yield from _places(entries, (section,))


def _places(entry: Any, of: Place) -> Iterator[Place]:
    keys = list(entry) if isinstance(entry, dict) else range(len(entry)) if of[-1] == "prices" else ()
    for key in keys:
        # Whole prices come and go; a type without any has none.
        if not isinstance(key, int) and of != ("instances",):
            yield (*of, key)
        if key not in _OPEN:
            yield from _places(entry[key], (*of, key))


def _at(data: dict[str, Any], way: list[str | int]) -> Any:
    found: Any = data
    for step in way:
        found = found[step]
    return found


@contextmanager
def planted(data: dict[str, Any]) -> Iterator[None]:
    """Let the catalogue be that of ``data``."""
    with patch("fleet.instances._data", lambda: data):
        _forget()
        yield
    _forget()


def _forget() -> None:
    instances.catalogue.cache_clear()
    instances.incomplete_types.cache_clear()

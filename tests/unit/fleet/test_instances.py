"""The catalogue says what the sources say, above all where AWS's own API or older documents say otherwise."""

import pytest

from fleet.accelerators import GIB
from fleet.instances import (
    PriceKind,
    UnknownInstanceTypeError,
    catalogue,
    incomplete_types,
    instance_type,
    tensor_engine_peak_flops,
)


@pytest.mark.parametrize(
    ("name", "devices", "physical", "logical", "hbm_gib"),
    [
        ("inf2.xlarge", 1, 2, 2, 32),
        ("inf2.8xlarge", 1, 2, 2, 32),
        ("inf2.24xlarge", 6, 12, 12, 192),
        ("inf2.48xlarge", 12, 24, 24, 384),
        ("trn1.2xlarge", 1, 2, 2, 32),
        ("trn1.32xlarge", 16, 32, 32, 512),
        ("trn1n.32xlarge", 16, 32, 32, 512),
        ("trn2.3xlarge", 1, 8, 4, 96),
        ("trn2.48xlarge", 16, 128, 64, 1536),
        ("trn2u.48xlarge", 16, 128, 64, 1536),
    ],
)
def test_cores_and_memory_of_a_type(name: str, devices: int, physical: int, logical: int, hbm_gib: int) -> None:
    known = instance_type(name)
    assert known.is_neuron
    assert (known.devices, known.physical_cores, known.logical_cores()) == (devices, physical, logical)
    assert known.hbm_bytes == hbm_gib * GIB


def test_ungrouped_cores_are_all_seen() -> None:
    assert instance_type("trn2.48xlarge").logical_cores(lnc=1) == 128


def test_trainium2_has_no_on_demand_price_anywhere() -> None:
    for name in ("trn2.3xlarge", "trn2.48xlarge", "trn2u.48xlarge"):
        assert not [price for price in instance_type(name).prices if price.kind is PriceKind.ON_DEMAND]


def test_every_price_is_positive_and_says_when_and_from_where() -> None:
    for known in catalogue().values():
        for price in known.prices:
            assert price.usd_per_hour > 0
            assert price.as_of[:2] == "20"
            # Read in a page, so short; the whole provenance is kept beside it.
            assert 0 < len(price.source) <= 30
            assert len(price.provenance) > len(price.source)


def test_what_is_stated_of_a_type_does_not_contradict_itself() -> None:
    assert not incomplete_types()
    for known in catalogue().values():
        chip, core = known.accelerator, known.accelerator.core
        # EC2: one EFA interface for each network card.
        assert known.efa_interfaces <= known.network_cards
        assert (known.efa_generation is None) == (known.efa_interfaces == 0)
        if core is not None:
            assert core.version == f"v{core.generation}"
            assert chip.default_lnc in chip.lnc_supported
            assert not chip.cores % max(chip.lnc_supported)
            assert all(support.source for support in core.frameworks.values())


def test_no_inf2_size_has_efa() -> None:
    sizes = [known for known in catalogue().values() if known.family == "inf2"]
    assert len(sizes) == 4
    assert not any(known.efa_interfaces or known.efa_generation for known in sizes)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("trn2n.48xlarge", "trn2u.48xlarge"), ("trn1.48xlarge", "did you mean trn"), ("spaceship", "known types: ")],
)
def test_a_type_that_is_not_there_is_explained(name: str, hint: str) -> None:
    with pytest.raises(UnknownInstanceTypeError, match=hint):
        instance_type(name)


def test_the_engine_peak_follows_version_type_and_grouping() -> None:
    assert tensor_engine_peak_flops("v2", "bf16", 1) == 92e12
    assert tensor_engine_peak_flops("v3d", "fp8", 2) == 316e12
    assert tensor_engine_peak_flops("v1", "bf16", 1) is None
    assert tensor_engine_peak_flops("v3", "int8", 1) is None

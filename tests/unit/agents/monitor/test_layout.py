"""The node's cores, devices and peaks."""

import pytest

from agents.monitor.decode.report import Hardware
from agents.monitor.layout import layout_of
from tests.support.samples import GIB


@pytest.mark.parametrize(
    ("hardware", "instance_type", "dtype", "lnc", "tflops"),
    [
        (Hardware(core_version="v2", lnc=1), None, "bf16", None, 92.0),
        # Two physical cores of 79.
        (Hardware(core_version="v3d", lnc=2), None, "bf16", None, 158.0),
        (Hardware(core_version="v3d"), None, "bf16", None, 158.0),
        (Hardware(device_type="trainium2", lnc=1), None, "fp8", None, 158.0),
        # 8 cores on the chip, 4 reported: grouped in twos.
        (Hardware(device_type="trainium2", cores_per_device=4), "trn2.48xlarge", "bf16", None, 158.0),
        (Hardware(), "trn1n.32xlarge", "fp32", None, 23.0),
        (Hardware(core_version="v3d", lnc=2), None, "bf16", 1, 79.0),
    ],
)
def test_the_peak_follows_core_version_data_type_and_grouping(
    hardware: Hardware, instance_type: str | None, dtype: str, lnc: int | None, tflops: float
) -> None:
    assert layout_of(hardware, instance_type, dtype, lnc).peak_flops == tflops * 1e12


def test_a_device_without_a_documented_peak_has_none() -> None:
    assert layout_of(Hardware(device_type="inferentia"), None, "bf16", None).peak_flops is None


def test_what_an_old_report_leaves_out_comes_from_the_catalogue() -> None:
    made = layout_of(Hardware(devices=16, cores_per_device=2), "trn1n.32xlarge", "bf16", None)

    assert (made.cores, made.device_bytes) == (32, 32 * GIB)


@pytest.mark.parametrize(
    ("hardware", "lnc", "cores_per_device", "tflops"),
    [
        # Eight physical cores on the chip, as the device's type says.
        (Hardware(device_type="trainium2", lnc=2, cores_per_device=4), None, 4, 158.0),
        (Hardware(device_type="trainium2", lnc=2, cores_per_device=4), 1, 8, 79.0),
        (Hardware(device_type="trainium2", lnc=1, cores_per_device=8), 2, 4, 158.0),
        # The tool says neither grouping nor, in the second, cores: four of eight, and the chip's default of two.
        (Hardware(device_type="trainium2", cores_per_device=4), None, 4, 158.0),
        (Hardware(device_type="trainium2"), None, 4, 158.0),
        # A chip that nobody knows: what is reported, ungrouped, is regrouped.
        (Hardware(core_version="v3d", lnc=2, cores_per_device=4), 1, 8, 79.0),
        # More cores than the chip has are still what the tool lists.
        (Hardware(device_type="trainium", cores_per_device=16), None, 16, 92.0),
    ],
)
def test_grouping_changes_cores_and_peak_together(
    hardware: Hardware, lnc: int | None, cores_per_device: int, tflops: float
) -> None:
    made = layout_of(hardware, None, "bf16", lnc)

    assert (made.cores_per_device, made.peak_flops) == (cores_per_device, tflops * 1e12)


def test_an_override_without_any_word_of_cores_leaves_them_unknown() -> None:
    assert layout_of(Hardware(core_version="v3"), None, "bf16", 2).cores is None


def test_an_unknown_node_has_no_layout() -> None:
    made = layout_of(Hardware(), "m7i.large", "bf16", None)

    assert (made.cores, made.device_bytes, made.peak_flops) == (None, None, None)

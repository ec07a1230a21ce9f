"""What lets a node pass the health gate, and what does not."""

from dataclasses import replace

import pytest

from agents.collectors.seen_error import SeenError, Source
from agents.gate.checks import Expected, Finding, Outcome, findings
from agents.gate.seen import Ran, Seen
from fleet.accelerators import GIB
from fleet.hardware_errors import HBM_UNCORRECTABLE, UNLISTED

TRN1 = Expected("trn1.32xlarge", 16, 32 * GIB, efa_interfaces=8, driver="2.25", tools="2.33.1")
SOUND = Seen(
    devices=tuple(range(16)),
    errors=(),
    memory_bytes=dict.fromkeys(range(16), 32 * GIB),
    efa_devices=tuple(f"rdmap{index}s0" for index in range(8)),
    efa_domains=16,
    driver="2.25.4.0",
    tools="2.33.1-1",
    collective=Ran(True, "Avg bus bandwidth: 40.69GB/s"),
)


def failed(expected: Expected, seen: Seen) -> list[Finding]:
    return [finding for finding in findings(expected, seen) if finding.outcome is Outcome.FAILED]


def test_a_sound_node_passes_every_check() -> None:
    found = findings(TRN1, SOUND)

    assert {finding.outcome for finding in found} == {Outcome.PASSED}
    assert [finding.check for finding in found] == [
        *("devices", "driver", "tools", "kernel-log", "memory", "efa", "efa-provider", "collective")
    ]


DAMAGED = {
    "a device is missing": (
        replace(SOUND, devices=tuple(range(15))),
        "devices: 15 of 16 Neuron devices that a trn1.32xlarge has",
    ),
    "the driver is not loaded": (
        replace(SOUND, devices=()),
        "devices: the driver shows no Neuron device: it is not loaded, or found none",
    ),
    "another driver": (replace(SOUND, driver="2.26.1"), "driver: 2.26.1 is installed, 2.25 is asked for"),
    # 2.25 is not the beginning of 2.250.
    "a driver that only looks alike": (
        replace(SOUND, driver="2.250.1"),
        "driver: 2.250.1 is installed, 2.25 is asked for",
    ),
    "other tools": (replace(SOUND, tools="2.33.0"), "tools: 2.33.0 is installed, 2.33.1 is asked for"),
    "a hardware error since the boot": (
        replace(SOUND, errors=(SeenError(HBM_UNCORRECTABLE, 3, 1, (Source.KERNEL_LOG,)),)),
        "kernel-log: hbm-uncorrectable on device 3: device memory is damaged",
    ),
    # 24 GiB is less than 0.9 x 32.
    "memory is missing": (
        replace(SOUND, memory_bytes={**dict.fromkeys(range(16), 32 * GIB), 5: 24 * GIB}),
        "memory: device 5 has 24 GiB of 32",
    ),
    "an EFA device is missing": (replace(SOUND, efa_devices=SOUND.efa_devices[1:]), "efa: 7 of 8 EFA devices"),
    "libfabric has no EFA": (
        replace(SOUND, efa_domains=0),
        "efa-provider: libfabric does not offer EFA: collectives would fall back to TCP",
    ),
    "a collective fails": (
        replace(SOUND, collective=Ran(False, "it took too long")),
        "collective: an all-reduce over the node's cores failed: it took too long",
    ),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_each_damage_fails_its_own_check_and_no_other(damage: str) -> None:
    seen, expected = DAMAGED[damage]

    assert [f"{finding.check}: {finding.detail}" for finding in failed(TRN1, seen)] == [expected]


def test_what_cannot_be_seen_is_left_open_and_holds_nobody_back() -> None:
    unseen = Seen(
        devices="the Neuron devices cannot be listed: Permission denied",
        errors="there is no kernel log",
        memory_bytes="neuron-ls is not there",
        efa_devices="the EFA devices cannot be listed: Permission denied",
        efa_domains="fi_info is not there",
        driver=None,
        tools=None,
        collective=None,
    )

    found = findings(TRN1, unseen)

    assert {finding.outcome for finding in found} == {Outcome.OPEN}
    assert Finding("driver", Outcome.OPEN, "no package database names its version, 2.25 is asked for") in found


def test_a_fleet_without_efa_is_not_asked_for_it() -> None:
    checks = {finding.check for finding in findings(replace(TRN1, efa_interfaces=0), replace(SOUND, efa_domains=0))}

    assert not checks & {"efa", "efa-provider"}


def test_an_error_that_asks_for_nothing_does_not_hold_the_node_back() -> None:
    assert failed(TRN1, replace(SOUND, errors=(SeenError(UNLISTED, None, 1),))) == []

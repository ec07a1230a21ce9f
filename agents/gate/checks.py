"""The checks of the health gate: what the catalogue promises of the node, held against what was seen on it.

A check fails only on what was seen. Where nothing could be seen, because a tool is missing or a file cannot be read,
it is left open and said: a node must not be lost because an image lacks a tool.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agents.gate.seen import Seen
from fleet.accelerators import GIB
from fleet.hardware_errors import Action

# Device memory is told in powers of two by some tools, and with what the firmware keeps taken off by others.
_MEMORY_SHARE: Final = 0.9


class Outcome(StrEnum):
    """What became of a check. OPEN: it could not be made, and holds nobody back."""

    PASSED = "passed"
    FAILED = "failed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check; ``detail`` is what was seen, in words for a page."""

    check: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What a node of this fleet has. ``efa_interfaces`` is 0 for a fleet that does not use EFA.

    ``driver`` and ``tools`` are the beginnings of versions (``2.25`` allows 2.25.4); empty allows any.
    """

    instance_type: str
    devices: int
    device_memory_bytes: int
    efa_interfaces: int = 0
    driver: str = ""
    tools: str = ""


def findings(expected: Expected, seen: Seen) -> tuple[Finding, ...]:
    """Every check, in the order in which a person would look."""
    return (
        _devices(expected, seen),
        _version("driver", expected.driver, seen.driver),
        _version("tools", expected.tools, seen.tools),
        _hardware(seen),
        *_memory(expected, seen),
        *_efa(expected, seen),
        _collective(seen),
    )


def _devices(expected: Expected, seen: Seen) -> Finding:
    if isinstance(seen.devices, str):
        return Finding("devices", Outcome.OPEN, seen.devices)
    found = len(seen.devices)
    if not found:
        return Finding("devices", Outcome.FAILED, "the driver shows no Neuron device: it is not loaded, or found none")
    outcome = Outcome.PASSED if found == expected.devices else Outcome.FAILED
    return Finding(
        "devices", outcome, f"{found} of {expected.devices} Neuron devices that a {expected.instance_type} has"
    )


def _version(check: str, wanted: str, found: str | None) -> Finding:
    if found is None:
        reason = "no package database names its version" + (f", {wanted} is asked for" if wanted else "")
        return Finding(check, Outcome.OPEN, reason)
    is_wanted = not wanted or found == wanted or found.startswith((f"{wanted}.", f"{wanted}-"))
    detail = f"{found} is installed" + ("" if is_wanted else f", {wanted} is asked for")
    return Finding(check, Outcome.PASSED if is_wanted else Outcome.FAILED, detail)


def _hardware(seen: Seen) -> Finding:
    if isinstance(seen.errors, str):
        return Finding("kernel-log", Outcome.OPEN, seen.errors)
    acute = [each for each in seen.errors if each.action is not Action.NONE]
    if not acute:
        return Finding("kernel-log", Outcome.PASSED, "no hardware error since the boot")
    first = acute[0]
    where = "" if first.device is None else f" on device {first.device}"
    more = f", and {len(acute) - 1} more" if len(acute) > 1 else ""
    return Finding("kernel-log", Outcome.FAILED, f"{first.error.kind}{where}: {first.error.meaning}{more}")


def _memory(expected: Expected, seen: Seen) -> Iterator[Finding]:
    if isinstance(seen.memory_bytes, str):
        yield Finding("memory", Outcome.OPEN, seen.memory_bytes)
        return
    least = _MEMORY_SHARE * expected.device_memory_bytes
    small = {device: size for device, size in seen.memory_bytes.items() if size < least}
    if small:
        device, size = min(small.items())
        detail = f"device {device} has {size / GIB:.0f} GiB of {expected.device_memory_bytes / GIB:.0f}"
        yield Finding("memory", Outcome.FAILED, detail)
    else:
        yield Finding("memory", Outcome.PASSED, f"{len(seen.memory_bytes)} devices have their memory")


def _efa(expected: Expected, seen: Seen) -> Iterator[Finding]:
    if not expected.efa_interfaces:
        return
    if isinstance(seen.efa_devices, str):
        yield Finding("efa", Outcome.OPEN, seen.efa_devices)
    else:
        found = len(seen.efa_devices)
        outcome = Outcome.PASSED if found == expected.efa_interfaces else Outcome.FAILED
        yield Finding("efa", outcome, f"{found} of {expected.efa_interfaces} EFA devices")
    if isinstance(seen.efa_domains, str):
        yield Finding("efa-provider", Outcome.OPEN, seen.efa_domains)
    elif seen.efa_domains:
        yield Finding("efa-provider", Outcome.PASSED, f"libfabric offers EFA on {seen.efa_domains} domains")
    else:
        yield Finding(
            "efa-provider", Outcome.FAILED, "libfabric does not offer EFA: collectives would fall back to TCP"
        )


def _collective(seen: Seen) -> Finding:
    if seen.collective is None:
        return Finding("collective", Outcome.OPEN, "nccom-test is not there, or jobs could come between")
    if seen.collective.passed:
        return Finding("collective", Outcome.PASSED, "an all-reduce over the node's cores came to its end")
    return Finding("collective", Outcome.FAILED, f"an all-reduce over the node's cores failed: {seen.collective.said}")

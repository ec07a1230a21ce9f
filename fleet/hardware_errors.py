"""Neuron hardware errors and the action that AWS documents for each.

Sources: ``nrt-troubleshoot.rst`` of the Neuron documentation (return codes) and the rules of the Neuron node problem
detector (``NEURON_HW_ERR`` values in the kernel log).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Action(StrEnum):
    """What to do with the node, from nothing to a new one."""

    NONE = "none"
    LOOK_AT_PEERS = "look-at-peers"
    REBOOT = "reboot"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class HardwareError:
    """One kind of error. ``nrt_code`` is the runtime's return code, ``kernel_name`` the NEURON_HW_ERR value."""

    kind: str
    action: Action
    nrt_code: int | None
    kernel_name: str | None
    meaning: str


ERRORS: Final = (
    HardwareError("hang-on-collectives", Action.LOOK_AT_PEERS, 1200, "HANG_ON_COLLECTIVES", "another worker hangs"),
    HardwareError("hbm-uncorrectable", Action.REPLACE, 1201, "HBM_UNCORRECTABLE_ERROR", "device memory is damaged"),
    HardwareError("core-uncorrectable", Action.REPLACE, 1202, "NC_UNCORRECTABLE_ERROR", "a core has a parity error"),
    HardwareError("sram-uncorrectable", Action.REPLACE, 1202, "SRAM_UNCORRECTABLE_ERROR", "on-chip memory is damaged"),
    HardwareError("dma-abort", Action.REPLACE, 1203, "DMA_ERROR", "a DMA engine stopped"),
    HardwareError("hbm-repairable", Action.REBOOT, 1205, None, "device memory is repaired by a driver reload"),
    # neuron-monitor's error summary counts hardware failures without code or device; the kernel log has both.
    HardwareError(
        "execution-hardware", Action.REBOOT, None, None, "executions failed for the hardware, cause not named"
    ),
)


def by_kind(kind: str) -> HardwareError:
    """The error called ``kind``; a ``KeyError`` names one that is not listed."""
    return _BY_KIND[kind]


_BY_KIND: Final = {error.kind: error for error in ERRORS}

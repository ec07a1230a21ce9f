"""Neuron hardware errors and the action that AWS documents for each.

Sources: ``nrt-troubleshoot.rst`` of the Neuron documentation (return codes), the rules of the Neuron node problem
detector (``NEURON_HW_ERR`` values in the kernel log), and the driver's ``neuron_sysfs_metrics.c`` (names of counters).
"""

from dataclasses import dataclass
from typing import Final

from fleet.string_enum import StringEnum


class Action(StringEnum):
    """What to do with the node, from nothing to a new one: the order is that of strength."""

    NONE = "none"
    LOOK_AT_PEERS = "look-at-peers"
    REBOOT = "reboot"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class HardwareError:
    """One kind of error, and what each source calls it; None where a source does not know it.

    ``nrt_code`` is the runtime's return code, ``kernel_name`` the NEURON_HW_ERR value, ``status_name`` the driver's
    counter of that return code and ``ecc_counter`` the counter of memory errors, the same in sysfs and neuron-monitor.
    """

    kind: str
    action: Action
    meaning: str
    nrt_code: int | None = None
    kernel_name: str | None = None
    status_name: str | None = None
    ecc_counter: str | None = None


HANG_ON_COLLECTIVES: Final = HardwareError(
    "hang-on-collectives",
    Action.LOOK_AT_PEERS,
    "another worker hangs",
    1200,
    "HANG_ON_COLLECTIVES",
    "hw_collectives_error",
)
HBM_UNCORRECTABLE: Final = HardwareError(
    "hbm-uncorrectable",
    Action.REPLACE,
    "device memory is damaged",
    1201,
    "HBM_UNCORRECTABLE_ERROR",
    "hw_hbm_ue_error",
    "mem_ecc_uncorrected",
)
CORE_UNCORRECTABLE: Final = HardwareError(
    "core-uncorrectable",
    Action.REPLACE,
    "a core has a parity error",
    1202,
    "NC_UNCORRECTABLE_ERROR",
    "hw_nc_ue_error",
)
# The runtime has one code for parity errors of a core and of its memory, so the counter of that code is the core's.
SRAM_UNCORRECTABLE: Final = HardwareError(
    "sram-uncorrectable",
    Action.REPLACE,
    "on-chip memory is damaged",
    1202,
    "SRAM_UNCORRECTABLE_ERROR",
    ecc_counter="sram_ecc_uncorrected",
)
DMA_ABORT: Final = HardwareError(
    "dma-abort", Action.REPLACE, "a DMA engine stopped", 1203, "DMA_ERROR", "hw_dma_abort_error"
)
HBM_REPAIRABLE: Final = HardwareError(
    "hbm-repairable",
    Action.REBOOT,
    "device memory is repaired by a driver reload",
    1205,
    status_name="hw_repairable_hbm_ue_error",
    ecc_counter="mem_ecc_repairable_uncorrected",
)
# neuron-monitor's error summary counts hardware failures without code or device; the kernel log has both.
EXECUTION_HARDWARE: Final = HardwareError(
    "execution-hardware", Action.REBOOT, "executions failed for the hardware, cause not named"
)
# What exactly is missing the gate says in words; whatever it is, no job is placed on the node.
HEALTH_GATE: Final = HardwareError("health-gate", Action.REPLACE, "the node failed its health gate at boot")
# A serving process's own word for its host, after a restart of the runtime did not help: the next thing to try.
SERVING_RUNTIME: Final = HardwareError(
    "serving-runtime", Action.REBOOT, "the runtime of an endpoint's task was sick again after a restart"
)
# A newer runtime may log kinds that nobody has listed here; what it asks for is still to be done.
UNLISTED: Final = HardwareError("unlisted", Action.NONE, "the kernel log names an error that is not listed here")

ERRORS: Final = (
    HANG_ON_COLLECTIVES,
    HBM_UNCORRECTABLE,
    CORE_UNCORRECTABLE,
    SRAM_UNCORRECTABLE,
    DMA_ABORT,
    HBM_REPAIRABLE,
    EXECUTION_HARDWARE,
    HEALTH_GATE,
    SERVING_RUNTIME,
    UNLISTED,
)

BY_KERNEL_NAME: Final = {error.kernel_name: error for error in ERRORS if error.kernel_name is not None}
BY_STATUS_NAME: Final = {error.status_name: error for error in ERRORS if error.status_name is not None}
BY_ECC_COUNTER: Final = {error.ecc_counter: error for error in ERRORS if error.ecc_counter is not None}

# TERMINATE_INSTANCE is the only value in the documentation; the others are the words that AWS uses for its remedies.
_ACTION_WORDS: Final = (
    ("TERMINATE", Action.REPLACE),
    ("REPLACE", Action.REPLACE),
    ("REBOOT", Action.REBOOT),
    ("RELOAD", Action.REBOOT),
    ("NONE", Action.NONE),
)


def stronger(one: Action, other: Action) -> Action:
    """The one that takes more of the node away."""
    return max(one, other, key=tuple(Action).index)


def kernel_action(text: str) -> Action | None:
    """What ``action=`` of a kernel log line asks for; None for a word that is not known."""
    return next((action for word, action in _ACTION_WORDS if word in text), None)

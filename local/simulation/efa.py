"""A simulated node's EFA devices: their hardware counters in sysfs, which grow with the job's steps.

Whether the network cards of every simulated type count retransmissions is not verified; here all of them do.
"""

from pathlib import Path
from typing import Final

from local.simulation.work import PARAMETERS, Work

_BYTES_PER_PARAMETER: Final = 2
# A healthy network's: one packet in about 60,000 of 8 KiB.
_BYTES_PER_RETRANSMIT: Final = 500_000_000
_MINUTE_SECONDS: Final = 60
_DRIVER: Final = "/sys/bus/pci/drivers/efa"


class EfaDevices:
    """The devices below ``sysfs``, as many as the node's part says; their total is written when a minute ends."""

    def __init__(self, sysfs: Path, work: Work) -> None:
        self._work, self._carried = work, 0
        devices = [sysfs / f"class/infiniband/rdmap{16 + index}s0" for index in range(work.part.efa_devices)]
        self._counters = [device / "ports/1/hw_counters" for device in devices]
        for device, counters in zip(devices, self._counters, strict=True):
            counters.mkdir(parents=True)
            (device / "device").mkdir()
            (device / "device/driver").symlink_to(_DRIVER)
            (counters / "rx_drops").write_text("0\n", encoding="ascii")
            _write(counters, 0)

    def show(self, now: float) -> None:
        """Make the counters what they are at virtual second ``now``."""
        # The agent reads them then and never between.
        if now % _MINUTE_SECONDS or not self._counters:
            return
        nodes = self._work.part.nodes
        # A ring's all-reduce: every node sends, and receives, so much of the gradients in each step.
        step = 2 * (nodes - 1) / nodes * PARAMETERS * _BYTES_PER_PARAMETER
        carried = int(self._work.steps(now) * step / len(self._counters))
        if carried == self._carried:
            return
        self._carried = carried
        for counters in self._counters:
            _write(counters, carried)


def _write(counters: Path, carried: int) -> None:
    trouble = carried // _BYTES_PER_RETRANSMIT
    for name, value in (("rx_bytes", carried), ("tx_bytes", carried), ("retrans_pkts", trouble)):
        (counters / name).write_text(f"{value}\n", encoding="ascii")

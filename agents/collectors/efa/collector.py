"""Traffic and trouble of the EFA devices, from their hardware counters, and a sign of collectives that avoid them.

Files: ``/sys/class/infiniband/<device>/ports/<port>/hw_counters/<counter>`` (``efa_verbs.c`` of the kernel), or one
level higher where the kernel shows them with the device. They count since the driver was loaded. The counters of
retransmissions are documented for Nitro v4 and later; where there are none, there is no metric of them rather than a
zero.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.efa.tcp_fallback import TcpFallback
from agents.collectors.reading.cumulative import CumulativeCounters
from agents.collectors.reading.read_only import contents, whole_number
from fleet import metrics
from fleet.metrics import MetricSpec

RECEIVED: Final = "rx_bytes"
SENT: Final = "tx_bytes"
_METRICS: Final[Mapping[str, MetricSpec]] = {
    RECEIVED: metrics.EFA_RECEIVE_BYTES,
    SENT: metrics.EFA_TRANSMIT_BYTES,
    "retrans_pkts": metrics.EFA_RETRANSMITS,
}
# What else tells of trouble; a counter of receivers that were not ready would have rnr in its name.
_TROUBLE: Final = re.compile(
    r"rx_drops|retrans_bytes|retrans_timeout_events|impaired_remote_conn_events|unresponsive_remote_events"
    r"|rdma_(?:read|write)_wr_err|[a-z_]{0,32}rnr[a-z_]{0,32}",
    re.ASCII,
)
_MARKS: Final = frozenset({RECEIVED, SENT, "rx_drops"})
_MOST_DEVICES: Final = 64
_LONGEST_NAME: Final = 32


@dataclass(frozen=True, slots=True)
class _Readings:
    """Counters by device. ``failed`` are devices with a counter that is there and cannot be read."""

    devices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


class EfaCollector:
    """Reads all EFA devices below ``sysfs``; ``proc`` shows the traffic of the job's processes."""

    name = "EFA"

    def __init__(self, sysfs: Path, proc: Path) -> None:
        self._class = sysfs / "class/infiniband"
        self._counters = CumulativeCounters()
        self._fallback = TcpFallback(proc)
        self._seen: set[str] = set()

    def collect(self, request: Request) -> Contribution:
        """What the devices carried since the last call."""
        try:
            devices = efa_devices(self._class)
        except OSError as error:
            return Contribution(problems=(f"the EFA devices cannot be listed: {error.strerror}",))
        self._seen.update(devices)
        if not self._seen:
            return Contribution()
        readings = _read(self._class, devices)
        rises = {
            device: {name: self._counters.rise(f"{device}/{name}", value) for name, value in counters.items()}
            for device, counters in readings.devices.items()
        }
        totals = {name: _total(name, rises, is_complete=not readings.failed) for name in _METRICS}
        found: dict[MetricSpec, float] = {_METRICS[name]: value for name, value in totals.items() if value is not None}
        problems = list(self._problems(devices, readings))
        fallback = self._fallback.seen(request.pids, totals[RECEIVED], totals[SENT])
        if fallback is not None:
            found[metrics.EFA_FALLBACK_TO_TCP] = int(fallback.is_seen)
            problems += [fallback.reason] if fallback.is_seen else []
        event = {"efa_devices": _summary(rises)} if rises else {}
        return Contribution(metrics=found, event=event, problems=tuple(problems))

    def _problems(self, devices: Iterable[str], readings: _Readings) -> Iterable[str]:
        gone = sorted(self._seen.difference(devices))
        if gone:
            yield f"EFA devices have vanished: {', '.join(gone)}"
        if readings.failed:
            device, reason = next(iter(readings.failed.items()))
            yield f"{len(readings.failed)} EFA devices cannot be read, the first: {device} {reason}"


def efa_devices(folder: Path) -> tuple[str, ...]:
    """Names of the devices of the ``efa`` driver, or with its counters where the driver is not shown.

    Raises:
        OSError: the folder exists and cannot be listed.
    """
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names alone
    except FileNotFoundError:
        return ()
    return tuple(name for name in names if len(name) <= _LONGEST_NAME and _is_efa(folder / name))[:_MOST_DEVICES]


def _is_efa(device: Path) -> bool:
    try:
        return (device / "device/driver").readlink().name == "efa"
    except OSError:
        return any(_MARKS.issubset(_names(counters)) for counters in _folders(device))


def _folders(device: Path) -> tuple[Path, ...]:
    """Where the counters are: with the ports, or with the device itself in older kernels."""
    ports = tuple(path for path in sorted(device.glob("ports/*/hw_counters")) if RECEIVED in _names(path))
    return ports or (device / "hw_counters",)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError:
        return []


def _read(folder: Path, devices: Iterable[str]) -> _Readings:
    found: dict[str, dict[str, int]] = {}
    failed: dict[str, str] = {}
    for device in devices:
        counters: dict[str, int] = {}
        for path in _folders(folder / device):
            for name in sorted(_names(path)):
                if name not in _METRICS and not _TROUBLE.fullmatch(name):
                    continue
                value = _value(path / name)
                if isinstance(value, str):
                    failed[device] = f"{name}: {value}"
                else:
                    counters[name] = counters.get(name, 0) + value
        if device not in failed and not {RECEIVED, SENT} <= counters.keys():
            failed[device] = "has no counters"
        if device not in failed:
            found[device] = counters
    return _Readings(found, failed)


def _value(path: Path) -> int | str:
    try:
        value = whole_number(contents(path))
    except OSError as error:
        return error.strerror or "unreadable"
    return "not a number" if value is None else value


def _total(name: str, rises: Mapping[str, Mapping[str, int | None]], *, is_complete: bool) -> int | None:
    # A device that is seen for the first time has a total since it was loaded, and no rise yet.
    known = [rise for counters in rises.values() if (rise := counters.get(name)) is not None]
    return sum(known) if known and is_complete else None


def _summary(rises: Mapping[str, Mapping[str, int | None]]) -> dict[str, Any]:
    """One array a counter, in the order of ``names``; counters of trouble only where one of them rose."""
    counters = sorted({name for device in rises.values() for name in device})
    arrays = {name: [device.get(name) for device in rises.values()] for name in counters}
    return {"names": list(rises), **{name: array for name, array in arrays.items() if name in _METRICS or any(array)}}

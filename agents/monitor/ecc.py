"""Uncorrected memory errors, whichever way the tool counts them.

Whether the counters are per period or since power-on is not documented (the driver's own register is cumulative, AWS's
Prometheus script adds the values up). So only a change says something, and it is read in the way that both allow:

- a rise is that many new errors (per period it may be more, never fewer than one);
- a fall to a value above zero is that many new errors too: a counter per period counted them in this period, and a
  cumulative one has been reset and has counted them since;
- the same value again, or a fall to zero, is nothing new.

The values are remembered over restarts of the agent and over boots: a counter that survives a reboot must not hold the
node in FAULT for ever, and what rose while no agent looked must not be missed. Only a device that was replaced by one
with exactly the same count would go unnoticed.
"""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from agents.collectors.seen_error import SeenError, Source
from agents.monitor.decode.report import Ecc
from fleet.hardware_errors import BY_ECC_COUNTER, EXECUTION_HARDWARE
from workload import durable_file

logger = logging.getLogger(__name__)


class EccWatch:
    """Remembers each device's counters between reports and, where it has a ``record`` file, between runs."""

    def __init__(self, record: Path | None = None) -> None:
        self._record = record
        self._last: dict[str, int] = {} if record is None else _read(record)
        self._kept = dict(self._last)

    def new_errors(self, devices: Iterable[Ecc]) -> tuple[SeenError, ...]:
        """What is new since the last report, or was nonzero when first seen."""
        found: list[SeenError] = []
        for device in devices:
            for counter, error in BY_ECC_COUNTER.items():
                value = device.counters.get(counter)
                if value is None:
                    continue
                key = f"{counter}/{device.device}"
                last = self._last.get(key, 0)
                self._last[key] = value
                new = value - last if value >= last else value
                if new > 0:
                    found.append(SeenError(error, device.device, new, (Source.MONITOR_ECC,)))
        return tuple(found)

    def keep(self) -> None:
        """Write down what was seen. To be called when it has been published: a crash before that reports it again."""
        if self._record is None or self._last == self._kept:
            return
        try:
            durable_file.replace_file(self._record, msgspec.json.encode(self._last), through=False)
        except OSError as error:
            logger.warning("%s: %s", self._record, error)
        else:
            self._kept = dict(self._last)


def _read(record: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(record.read_bytes(), type=dict[str, int])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        logger.warning("%s: %s; every nonzero error counter is new", record, error)
        return {}


def from_executions(errors: Mapping[str, int]) -> tuple[SeenError, ...]:
    """Executions that failed for the hardware: the tool gives neither code nor device."""
    count = errors.get("hardware", 0)
    return (SeenError(EXECUTION_HARDWARE, None, count, (Source.EXECUTIONS,)),) if count > 0 else ()

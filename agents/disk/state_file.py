"""What the states of the node and of its jobs remember, kept over restarts of the agent until the node boots.

Without it a new agent would clear a fault that only a reboot clears, excuse a running job as starting up, and begin to
count a hang or a pause anew.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fleet.crash_loop import Runs
from fleet.job_progress import Known, Remembered
from fleet.node_state import Memory
from workload import durable_file

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Content:
    boot_id: str
    memory: Memory
    # Released agents before this one wrote none.
    jobs: Mapping[str, Remembered] = field(default_factory=dict)
    runs: Mapping[str, Runs] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StateFile:
    """One file. Without a ``boot_id`` nothing is kept: a boot could not be told from a restart."""

    path: Path
    boot_id: str

    def load(self) -> Known:
        """What was remembered in this boot; nothing when the file is missing, damaged or of another boot."""
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=_Content)
        except FileNotFoundError:
            return Known()
        except (OSError, msgspec.DecodeError) as error:
            logger.warning("%s: %s; the node's state starts anew", self.path, error)
            return Known()
        is_of_this_boot = self.boot_id and content.boot_id == self.boot_id
        return Known(content.memory, content.jobs, content.runs) if is_of_this_boot else Known()

    def save(self, known: Known) -> None:
        """Replace the file; a disk that refuses is logged."""
        if not self.boot_id:
            return
        content = msgspec.json.encode(_Content(self.boot_id, known.memory, known.jobs, known.runs))
        try:
            # Not synced: after a power failure the node has booted, and the file is of no use.
            durable_file.replace_file(self.path, content, through=False)
        except OSError as error:
            logger.warning("%s: %s", self.path, error)

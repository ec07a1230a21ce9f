"""What the host shows of the work: compiler processes, and marker files that people and workloads leave."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

# The kernel keeps 15 characters of a name; both fit.
COMPILERS: Final = frozenset({"neuronx-cc", "walrus_driver"})
_REASON_LIMIT: Final = 200


@dataclass(frozen=True, slots=True)
class HostView:
    """``draining`` is the reason that was given. ``compilers`` are host pids."""

    compilers: tuple[int, ...]
    draining: str | None
    checkpoint: bool


@dataclass(frozen=True, slots=True)
class HostReader:
    """Reads ``proc`` and two files of the run directory: ``drain`` (a reason in it) and ``checkpoint``."""

    proc: Path
    run_directory: Path

    def read(self) -> HostView:
        """The host now."""
        return HostView(
            compilers=self._compilers(),
            draining=self._drain_reason(),
            checkpoint=(self.run_directory / "checkpoint").exists(),
        )

    def boot_id(self) -> str:
        """The kernel's name for this boot; empty where there is none."""
        try:
            return (self.proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def _compilers(self) -> tuple[int, ...]:
        pids = []
        for path in self.proc.glob("[0-9]*/comm"):
            try:
                name = path.read_text(encoding="utf-8", errors="replace").strip()
            except OSError:
                continue
            if name in COMPILERS and path.parent.name.isdecimal():
                pids.append(int(path.parent.name))
        return tuple(sorted(pids))

    def _drain_reason(self) -> str | None:
        try:
            text = (self.run_directory / "drain").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None
        return text[:_REASON_LIMIT] or "told to drain"

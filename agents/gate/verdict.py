"""The gate's verdict as a file in the run directory: the boot waits for it, and the agent reports it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agents.gate.checks import Finding, Outcome
from workload import durable_file

FILE: Final = "gate.json"
# One word, for a shell that waits.
WORD_FILE: Final = "gate"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one boot; ``at`` in unix seconds."""

    boot_id: str
    at: float
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(finding.outcome is not Outcome.FAILED for finding in self.findings)

    @property
    def reason(self) -> str:
        """What failed, in one line."""
        failed = [finding for finding in self.findings if finding.outcome is Outcome.FAILED]
        return "; ".join(f"{finding.check}: {finding.detail}" for finding in failed)


def write(run_directory: Path, verdict: Verdict) -> None:
    """Leave it for the agent and for the boot; the boot's word last, so that who sees it finds the rest."""
    run_directory.mkdir(parents=True, exist_ok=True)
    durable_file.replace_file(run_directory / FILE, msgspec.json.encode(verdict), through=False)
    word = b"passed\n" if verdict.passed else b"failed\n"
    durable_file.replace_file(run_directory / WORD_FILE, word, through=False)


def read(run_directory: Path) -> Verdict | None:
    """The verdict, if there is one.

    Raises:
        OSError: it cannot be read.
        msgspec.DecodeError: it is none.
    """
    try:
        return msgspec.json.decode((run_directory / FILE).read_bytes(), type=Verdict)
    except FileNotFoundError:
        return None

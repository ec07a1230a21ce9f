"""What a page says of an alarm, from the alarm's own definition: written by a synthesis, read by the pager.

The pager finds it by the alarm's name. What people read in CloudWatch, the description, is made of the same words.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from fleet import naming
from fleet.string_enum import StringEnum

# In the pager's package, beside its modules.
FILE: Final = "lambdas/pager/alarms.json"
EVIDENCE_MINUTES: Final = 20
# For what is raised after a quarter or half an hour, so that its beginning is to be seen.
LONG_EVIDENCE_MINUTES: Final = 45
OPEN_THE_RUNBOOK: Final = "Open the runbook."
# What all runbooks have in common.
RUNBOOKS: Final = "README.md"


class EvidenceKind(StringEnum):
    """Which events a page brings: of which log, and what in them is the matter."""

    NONE = "none"
    NODES = "nodes"
    SILENT_NODES = "silent-nodes"
    """The nodes that nobody sees, since the first of them was not seen."""
    FAULTY_NODES = "faulty-nodes"
    """The nodes with a hardware error, since the first of them had it."""
    UNUSED_NODES = "unused-nodes"
    """The nodes without a job, since the first of them had none."""
    IDLE_JOBS = "idle-jobs"
    """The nodes of jobs that idle, with those jobs' own dollars."""
    CRASH_LOOPS = "crash-loops"
    """The nodes of jobs that start in vain, with all that those jobs cost since they do."""
    LOST_JOBS = "lost-jobs"
    """The nodes of jobs whose loss is no number, and all that they cost since."""
    CAPACITY = "capacity"
    MISSING_CAPACITY = "missing-capacity"
    UNUSED_CAPACITY = "unused-capacity"
    SPOT_INTERRUPTION = "spot-interruption"
    PRICE = "price"

    @property
    def is_about_capacity(self) -> bool:
        """Whether the capacity watch tells of it, and not the nodes."""
        return self in _OF_THE_WATCH


_OF_THE_WATCH: Final = frozenset(
    {
        EvidenceKind.CAPACITY,
        EvidenceKind.MISSING_CAPACITY,
        EvidenceKind.UNUSED_CAPACITY,
        EvidenceKind.SPOT_INTERRUPTION,
        EvidenceKind.PRICE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmPage:
    """One alarm, to a page. ``first_command`` has its names filled in, all but ``{region}``."""

    title: str
    """What is wrong, in two or three words."""
    summary: str
    action: str
    description: str
    """As CloudWatch has it: an alarm with another one is not the alarm that ``summary`` and ``action`` are of."""
    runbook: str
    evidence: EvidenceKind = EvidenceKind.NODES
    evidence_minutes: int = EVIDENCE_MINUTES
    first_command: str | None = None
    contributor: tuple[str, ...] = ()
    """The labels of what an alarm follows one by one, such as ``job`` and ``node``; none: it has one state."""

    def of(self, description: str) -> "AlarmPage":
        """The same of an alarm that was deployed with ``description``: other words than ours are told as they are."""
        if description == self.description:
            return self
        return replace(self, summary=description or f"{self.title}.", action=OPEN_THE_RUNBOOK, description=description)


def unknown(name: str) -> AlarmPage:
    """What is told of an alarm that no definition is of, such as an operator's own: of a fleet's, its nodes."""
    split = naming.split_alarm_name(name)
    key = split[2] if split else name
    return AlarmPage(
        title=key,
        summary=f"{key}.",
        action=OPEN_THE_RUNBOOK,
        description="",
        runbook=f"{key}.md" if split else RUNBOOKS,
        evidence=EvidenceKind.NONE if split and split[1] == naming.PLATFORM else EvidenceKind.NODES,
    )


def page_test() -> AlarmPage:
    """Of the alarm that `fleet page test` raises, which no metric has."""
    summary, action = "This is a test of the pager, and nothing is wrong.", "Nothing is to be done."
    return AlarmPage(
        title="Page test",
        summary=summary,
        action=action,
        description=f"{summary} {action}",
        runbook=RUNBOOKS,
        evidence=EvidenceKind.NONE,
    )


def content(pages: Mapping[str, AlarmPage]) -> dict[str, Any]:
    """Pages by the alarm's name, as JSON's types."""
    return {name: asdict(page) for name, page in pages.items()}

"""A node's life in a scenario: the phases of its jobs as the stand-in monitor takes them, and what its machine does."""

from dataclasses import dataclass
from typing import Final

import msgspec

from agents.collectors.jobs.job import Job as SeenJob
from fleet.instances import instance_type
from local.replay.scenario import EventKind, Fleet, Job, JobPhase, Scenario
from local.simulation.report import FIRST_RUNTIME_PID
from local.simulation.script import Phase, PhaseKind, Script

REGION: Final = "us-east-2"
_FAULTY_DEVICE: Final = 0
_NOTHING: Final = JobPhase(at=0, kind=PhaseKind.NO_JOB)


@dataclass(frozen=True, slots=True)
class Life:
    """One node. Minutes count from the scenario's start."""

    fleet: Fleet
    index: int
    tenants: tuple[Job, ...]
    script: Script

    def phases(self, minute: int) -> tuple[JobPhase, ...]:
        """What each tenant goes through in ``minute``."""
        return tuple(_at(job.phases_of(self.index), minute) for job in self.tenants)

    def happens(self, kind: EventKind, minute: int) -> bool:
        """Whether an event of this kind lasts in ``minute``."""
        return any(
            event.kind == kind and self.index in event.nodes and event.at <= minute < event.until
            for event in self.fleet.events
        )

    def jobs(self, minute: int) -> tuple[SeenJob, ...]:
        """The registrations on the node, with the processes of each job where several share it."""
        share = self.fleet.runtimes // len(self.tenants) if self.tenants else 0
        return tuple(
            SeenJob(
                job.id, job.id, job.owner, registered=True, pids=_pids(at, share) if len(self.tenants) > 1 else None
            )
            for at, (job, phase) in enumerate(zip(self.tenants, self.phases(minute), strict=True))
            if phase.kind is not PhaseKind.NO_JOB
        )


def life(scenario: Scenario, name: str, index: int, start: float) -> Life:
    """Node ``index`` of fleet ``name``; the scenario begins at unix second ``start``."""
    fleet = scenario.fleets[name]
    tenants = fleet.tenants(index)
    kind = instance_type(fleet.instance_type)
    faults = [event for event in fleet.events if event.kind == "memory-error" and index in event.nodes]
    timelines = [
        tuple(phase.from_start(start) for phase in phases)
        for phases in ([job.phases_of(index) for job in tenants] or [(_NOTHING,)])
    ]
    for fault in faults:
        timelines[0] = _with_fault(timelines[0], start + fault.at * 60, start + fault.until * 60)
    script = Script(
        # The same for all nodes of a fleet, so that equal reports are equal; the agent is told who it is.
        node=name,
        instance_type=fleet.instance_type,
        availability_zone=f"{REGION}a",
        availability_zone_id="use2-az1",
        region=REGION,
        lnc=kind.accelerator.default_lnc,
        dtype="bf16",
        runtimes=fleet.runtimes,
        seed=scenario.seed,
        phases=timelines[0],
        neighbors=tuple(timelines[1:]),
    )
    return Life(fleet, index, tenants, script)


def _at(phases: tuple[JobPhase, ...], minute: int) -> JobPhase:
    return next(phase for phase in reversed(phases) if phase.at <= minute)


def _pids(tenant: int, share: int) -> tuple[int, ...]:
    return tuple(range(FIRST_RUNTIME_PID + tenant * share, FIRST_RUNTIME_PID + (tenant + 1) * share))


def _with_fault(phases: tuple[Phase, ...], start: float, end: float) -> tuple[Phase, ...]:
    fault = Phase(start, PhaseKind.HARDWARE_ERROR, 0.0, 0.0, _FAULTY_DEVICE)
    before = [phase for phase in phases if phase.start < start]
    # What goes on when the damaged device is gone is what would be going on without it.
    resumed = [msgspec.structs.replace(phase, start=max(end, phase.start)) for phase in phases]
    after = {phase.start: phase for phase in resumed}
    return (*before, fault, *after.values())

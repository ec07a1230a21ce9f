"""The health of one serving process: what was seen of its runtime, and the answers to the two health requests.

Live: the process should stay. Ready: it should be given requests. A runtime that loads for twenty minutes is live and
not ready; so is one with the wrong artifact, and one whose host was given up: a restart would mend neither.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from fleet.serving import readiness
from fleet.serving.readiness import Course, Expected, Limits, Seen, Step
from workload.serving.memory import HostMemory, Remembered

OK: Final = 200
UNAVAILABLE: Final = 503


class Runtime(Protocol):
    """What runs the model, as far as its health is asked for."""

    def answer(self) -> None:
        """Make one small execution, or ask for one fact, within a few seconds. Raises whatever says that it failed."""
        ...

    def held_cores(self) -> int:
        """The NeuronCores that it holds, physical ones."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What a health request is told: an HTTP status and a JSON body with every reason."""

    status: int
    body: dict[str, Any]


class Health:
    """Kept by one process; every method may be called from any thread. ``now`` is a monotonic clock, in seconds."""

    def __init__(
        self, expected: Expected, memory: HostMemory, now: Callable[[], float], limits: Limits | None = None
    ) -> None:
        self._expected, self._memory, self._now = expected, memory, now
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._course = Course(began=now())
        self._remembered = memory.load()
        self._seen = Seen(handed_over=self._remembered.handed_over)
        self._sick = ""

    def ran(self, length: int, batch: int) -> None:
        """A graph of this shape was executed."""
        with self._lock:
            self._seen = replace(self._seen, ran=self._seen.ran | {(length, batch)})

    def found_artifact(self, wrong: str) -> None:
        """Its graphs were compared with their manifest; ``wrong`` says what differs, empty: nothing."""
        with self._lock:
            self._seen = replace(self._seen, artifact=wrong)

    def probed(self, reason: str, cores: int | None) -> Step | None:
        """Take in a probe of the runtime, ``reason`` being empty when it answered; what the process is to do now.

        RESTART: it must end, to be started again. HAND_OVER: it stays, not ready; the agent tells of the host.
        The host's memory is written before either is returned, so that a kill cannot lose it. Raises OSError.
        """
        with self._lock:
            now = self._now()
            self._course = readiness.after(self._course, reason, now)
            said = reason if reason or self._course.has_answered else None
            self._seen = replace(self._seen, runtime=said, cores=cores)
            self._sick = readiness.sickness(self._course, self._limits, now)
            if self._sick:
                return self._fall_sick()
            if self._remembered.restarts and readiness.is_recovered(self._course, self._limits, now):
                self._memory.forget()
                self._remembered = self._memory.nothing()
            return None

    def failed_to_load(self, reason: str) -> Step | None:
        """Loading has ended with an error, so there is nothing to wait for; as ``probed``. Raises OSError."""
        with self._lock:
            self._course = replace(
                self._course, has_answered=True, failures=self._limits.failures, reason=reason, well_since=None
            )
            self._sick = f"loading failed: {reason}"
            self._seen = replace(self._seen, runtime=self._sick)
            return self._fall_sick()

    def leaves(self) -> None:
        """The process was told to end: it wants no more requests, and answers those that come."""
        with self._lock:
            self._seen = replace(self._seen, leaves=True)

    def live(self) -> Answer:
        """200 unless the process should be ended and started again."""
        with self._lock:
            is_live = not self._sick or bool(self._remembered.handed_over)
            body: dict[str, Any] = {"live": is_live}
            if self._sick:
                body["reason"] = self._sick
            return Answer(OK if is_live else UNAVAILABLE, body)

    def ready(self) -> Answer:
        """200 when all that must hold does; the body has each check either way."""
        with self._lock:
            found = readiness.findings(self._expected, self._seen)
        is_ready = readiness.is_ready(found)
        checks = {each.check.value: {"holds": each.holds, "detail": each.detail} for each in found}
        return Answer(OK if is_ready else UNAVAILABLE, {"ready": is_ready, "checks": checks})

    def _fall_sick(self) -> Step | None:
        if self._remembered.handed_over:
            return None
        step = readiness.step(self._remembered.restarts)
        restarts = self._remembered.restarts
        if step is Step.RESTART:
            kept = Remembered(self._memory.boot_id, restarts + 1, last=self._sick)
        else:
            kept = replace(self._remembered, last=self._sick, handed_over=f"sick again after a restart: {self._sick}")
        self._memory.save(kept)
        self._remembered = kept
        self._seen = replace(self._seen, handed_over=kept.handed_over)
        return step

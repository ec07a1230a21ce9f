"""What a training loop talks to: resume, whether to save after this step, save, and whether to end.

Every rank calls ``wants`` after every step with the same step numbers, and saves when it says so. Nothing here talks to
other ranks but through the store.
"""

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from fleet.checkpoints.layout import Attempt
from workload.checkpoint import staging
from workload.checkpoint.collecting import collect
from workload.checkpoint.committing import publish
from workload.checkpoint.deciding import Decider, Orders
from workload.checkpoint.drain import Drain
from workload.checkpoint.member import Habits, Member, Resumed
from workload.checkpoint.resuming import choose, restore
from workload.checkpoint.stores.store import Store
from workload.errors import AbandonedError, StoreError
from workload.node_agent import Hints

_log = logging.getLogger("neuron_fleet.checkpoint")
_POLL_SECONDS: Final = 1.0
_TIDY_SECONDS: Final = 60.0


class Saver:
    """One for a process. ``scratch`` is a directory on the node's own disk, with room for this rank's files twice.

    ``hints`` may be replaced where the agent's socket is elsewhere, ``pause`` where nobody should really wait.
    """

    def __init__(
        self,
        store: Store,
        member: Member,
        scratch: Path,
        drain: Drain,
        habits: Habits,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._member, self._scratch, self._habits = store, member, scratch, habits
        self._drain, self._monotonic = drain, monotonic
        self.orders = Orders(store, member.run, member.rank)
        self._decider = Decider(member, habits, drain, self.orders, monotonic)
        self.hints = Hints(member.rank, member.job)
        self.pause: Callable[[float], object] = threading.Event().wait
        self._failures = 0
        self._tidying: threading.Thread | None = None

    @contextlib.contextmanager
    def listening(self) -> Iterator["Saver"]:
        """Around training, in the main thread: SIGTERM and other ranks' orders are heard."""
        self._drain.listen()
        try:
            with self.orders.watched(self._habits.look_seconds):
                yield self
        finally:
            if self._tidying is not None:
                self._tidying.join(_TIDY_SECONDS)

    def resume(self) -> Resumed | None:
        """Fetch what this rank resumes from; None: the job begins.

        Raises:
            WorldSizeError: as many ranks did not save it.
            DamagedCheckpointError: it is not as it was saved.
            RunReusedError: the run's name was used before.
            StoreError: it could not be fetched.
        """
        choice = choose(self._store, self._member.run)
        for line in choice.passed_over:
            _log.warning("not resumed from: %s", line)
        if choice.manifest is None:
            return None
        into = self._scratch / f"resumed-{self._member.rank:05d}"
        shutil.rmtree(into, ignore_errors=True)
        restore(self._store, choice.manifest, self._member.rank, self._member.world_size, into)
        return Resumed(choice.manifest.step, into)

    def wants(self, step: int) -> bool:
        """Whether to save ``step``, which was done just now."""
        return self._decider.wants(step)

    def ends(self, step: int) -> bool:
        """Whether ``step`` is the last one. Save it first, if that is wanted."""
        return self._decider.ends(step)

    @contextlib.contextmanager
    def save(self, step: int) -> Iterator[Path]:
        """A directory to write this rank's files into; at the block's end they are synced and sent.

        Raises:
            StoreError: the store refused too often in a row, or the last save before the end.
        """
        attempt, begun = Attempt(step, self._member.run), self._monotonic()
        with self.hints.saving(step):
            try:
                yield staging.begin(self._scratch, attempt, self._member.rank)
                self._send(staging.finish(self._scratch, attempt, self._member.rank))
            finally:
                staging.discard(self._scratch, attempt, self._member.rank)
        self._decider.saved(begun)
        self._tidy()

    def _send(self, staged: staging.Staged) -> None:
        member, step = self._member, staged.attempt.step
        is_last = self.ends(step)
        try:
            is_complete = publish(self._store, staged, member.world_size, time.time())
        except (StoreError, AbandonedError) as error:
            self._failures += 1
            if is_last or self._failures >= self._habits.failures:
                raise
            _log.warning("step %d was not saved (%d in a row): %s", step, self._failures, error)
            return
        self._failures = 0
        if is_last and member.rank == 0 and not is_complete and not self._completes(staged.attempt):
            _log.warning("step %d was not saved by every rank before the end", step)

    def _completes(self, attempt: Attempt) -> bool:
        until = self._monotonic() + self._habits.complete_seconds
        while self._store.read(attempt.commit()) is None:
            if self._monotonic() >= until:
                return False
            self.pause(_POLL_SECONDS)
        return True

    def _tidy(self) -> None:
        retention = self._habits.retention
        is_busy = self._tidying is not None and self._tidying.is_alive()
        if self._member.rank != 0 or retention is None or is_busy:
            return

        def tidy() -> None:
            try:
                for problem in collect(self._store, retention).problems:
                    _log.warning("kept for somebody to look at: %s", problem)
            except Exception:
                # What is too much is deleted the next time; training has nothing to do with it.
                _log.exception("superfluous checkpoints were not deleted")

        self._tidying = threading.Thread(target=tidy, name="checkpoint-collector", daemon=True)
        self._tidying.start()

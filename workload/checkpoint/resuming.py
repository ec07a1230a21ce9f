"""What a run resumes from: chosen once for all its ranks, written down, fetched and compared byte by byte.

Ranks ask at different moments, and meanwhile a straggler of the run before may complete a newer checkpoint: so the
first rank that asks writes its choice down, and all follow that. What is written down is not deleted either, as long
as it may be read.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet.checkpoints.layout import COMMITS, Attempt, attempt_of, reader
from fleet.checkpoints.manifest import Manifest, StoredFile
from fleet.checkpoints.retention import SHORTEST_GRACE_SECONDS
from workload.checkpoint.finding import attempts, latest, read
from workload.checkpoint.staging import sha256
from workload.checkpoint.stores.store import Store
from workload.errors import CheckpointError, DamagedCheckpointError, RunReusedError, WorldSizeError

# Whoever takes longer to choose chooses again: what it saw may be about to be deleted.
_CHOICE_SECONDS: Final = SHORTEST_GRACE_SECONDS / 2
_CHOICES: Final = 3
_FETCHES: Final = 2


@dataclass(frozen=True, slots=True)
class Choice:
    """What a run resumes from; None: from the beginning. ``passed_over``: why not from newer ones."""

    manifest: Manifest | None
    passed_over: tuple[str, ...] = ()


def choose(store: Store, run: str, monotonic: Callable[[], float] = time.monotonic) -> Choice:
    """What ``run`` resumes from, the same for every rank that asks.

    Raises:
        RunReusedError: the run has saved since it chose.
        DamagedCheckpointError: what was chosen is not there any more, or cannot be read.
    """
    if any(attempt.run == run for attempt in attempts(store, COMMITS)):
        raise RunReusedError(
            f"run {run} has saved checkpoints already: give a job that is started again another name, or it would "
            "resume from where its first start did"
        )
    key = reader(run)
    held = store.read(key)
    passed_over: tuple[str, ...] = ()
    if held is None:
        content, passed_over = _chosen(store, monotonic)
        held = store.create(key, content)
    return Choice(_named(store, key, held), passed_over)


def restore(store: Store, manifest: Manifest, rank: int, world_size: int, into: Path) -> Path:
    """Fetch what ``rank`` saved into the directory ``into``, which is made; every byte is compared.

    Raises:
        WorldSizeError: as many ranks did not save it.
        DamagedCheckpointError: what came is not what was saved, twice.
    """
    if manifest.world_size != world_size:
        raise WorldSizeError(
            f"the checkpoint of step {manifest.step} was saved by {manifest.world_size} ranks and this job has "
            f"{world_size}: start it with {manifest.world_size}, or convert the checkpoint first"
        )
    into.mkdir(parents=True)
    for file in manifest.parts[rank].files:
        path = into / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(store, file, path)
    return into


def _chosen(store: Store, monotonic: Callable[[], float]) -> tuple[bytes, tuple[str, ...]]:
    for _ in range(_CHOICES):
        begun = monotonic()
        found = latest(store)
        if monotonic() - begun < _CHOICE_SECONDS:
            name = None if found.manifest is None else found.manifest.attempt.name
            return json.dumps({"attempt": name}).encode(), found.passed_over
    raise CheckpointError(f"{store}: it took longer than {_CHOICE_SECONDS:g} s to look for the latest, every time")


def _named(store: Store, key: str, content: bytes) -> Manifest | None:
    attempt = chosen_attempt(f"{store}/{key}", content)
    if attempt is None:
        return None
    manifest = read(store, attempt)
    if manifest is None:
        raise DamagedCheckpointError(f"{store}/{attempt.commit()}, from which this run resumes, is not there any more")
    return manifest


def chosen_attempt(place: str, content: bytes) -> Attempt | None:
    """The attempt that a run's note names; None: it starts from the beginning.

    Raises:
        DamagedCheckpointError: it is no such note.
    """
    try:
        name = json.loads(content)["attempt"]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedCheckpointError(f"{place}: {content[:100]!r} does not say what to resume from") from error
    if name is None:
        return None
    found = attempt_of(f"{COMMITS}{name}.json")
    if found is None:
        raise DamagedCheckpointError(f"{place}: {str(name)[:100]!r} is no checkpoint's name")
    return found


def _fetch(store: Store, file: StoredFile, path: Path) -> None:
    came = ""
    for _ in range(_FETCHES):
        path.unlink(missing_ok=True)
        store.fetch(file.key, path)
        size = path.stat().st_size
        if size == file.size and sha256(path) == file.sha256:
            return
        came = f"{size} bytes" if size != file.size else "other content"
    raise DamagedCheckpointError(f"{store}/{file.key}: {came} instead of the {file.size} bytes that were saved")

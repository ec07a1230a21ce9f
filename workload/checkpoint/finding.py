"""Which checkpoints exist, and the latest that is whole, for whoever resumes, lists or cleans up."""

from dataclasses import dataclass

from fleet.checkpoints.layout import COMMITS, CONDEMNED, SET_ASIDE, Attempt, attempt_of
from fleet.checkpoints.manifest import Manifest, ManifestError, decoded
from workload.checkpoint.stores.store import Store
from workload.errors import DamagedCheckpointError


@dataclass(frozen=True, slots=True)
class Found:
    """The latest checkpoint, if there is one, and why newer ones were passed over: one line each."""

    manifest: Manifest | None
    passed_over: tuple[str, ...]


def latest(store: Store) -> Found:
    """The complete checkpoint of the highest step; of two runs that saved that step, the one that did so last.

    What is about to be deleted or was set aside does not count. One whose files are not all there, in their sizes, is
    passed over; what is in them is compared when they are fetched.
    """
    gone = attempts(store, CONDEMNED) | attempts(store, SET_ASIDE)
    passed_over = []
    committed = [(found, entry.modified) for entry in store.list(COMMITS) if (found := attempt_of(entry.key))]
    for attempt, _ in sorted(committed, key=lambda pair: (pair[0].step, pair[1]), reverse=True):
        if attempt in gone:
            continue
        try:
            manifest = read(store, attempt)
        except DamagedCheckpointError as error:
            passed_over.append(str(error))
            continue
        if manifest is not None:
            flaw = first_flaw(store, manifest)
            if flaw is None:
                return Found(manifest, tuple(passed_over))
            passed_over.append(flaw)
    return Found(None, tuple(passed_over))


def read(store: Store, attempt: Attempt) -> Manifest | None:
    """The manifest of ``attempt``; None where there is none, or where the save was given up.

    Raises:
        DamagedCheckpointError: what lies there is no manifest of this attempt.
    """
    content = store.read(attempt.commit())
    if content is None:
        return None
    try:
        manifest = decoded(content)
    except ManifestError as error:
        raise DamagedCheckpointError(f"{store}/{attempt.commit()}: {error}") from error
    if manifest is not None and manifest.attempt != attempt:
        raise DamagedCheckpointError(f"{store}/{attempt.commit()}: it is the manifest of step {manifest.step}")
    return manifest


def first_flaw(store: Store, manifest: Manifest) -> str | None:
    """What is missing of a checkpoint, or has another size, in one line; None: nothing."""
    sizes = {entry.key: entry.size for entry in store.list(manifest.attempt.files())}
    for part in manifest.parts:
        for file in part.files:
            if file.key not in sizes:
                return f"{store}/{file.key} is missing"
            if sizes[file.key] != file.size:
                return f"{store}/{file.key} has {sizes[file.key]} bytes instead of {file.size}"
    return None


def attempts(store: Store, prefix: str) -> frozenset[Attempt]:
    """Those that something lies under ``prefix`` of."""
    return frozenset(found for entry in store.list(prefix) if (found := attempt_of(entry.key)))


def set_aside(store: Store, attempt: Attempt, reason: str) -> None:
    """Take a checkpoint out of use, because a person judged so: nobody resumes from it, nobody deletes it."""
    store.create(attempt.set_aside(), reason.encode())

"""From a rank's staged files to a checkpoint that exists: files, then the rank's part, then, by whoever is last, all.

The store alone brings the ranks together. Files have keys that were never used, so nothing that anybody may read is
ever written over. The rank that sees every part writes the manifest; several may see it, and they write the same.
"""

import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fleet.checkpoints.layout import Attempt
from fleet.checkpoints.manifest import Part, StoredFile, decoded, decoded_part, encoded, whole
from workload.checkpoint.staging import Staged
from workload.checkpoint.stores.store import Entry, Store
from workload.errors import AbandonedError, MissingError, SavedAlreadyError

# Of a thousand ranks that end together, each reads a few parts and then sees that somebody was faster.
_READ_AT_ONCE: Final = 64
_READERS: Final = 16


def publish(store: Store, staged: Staged, world_size: int, saved_at: float) -> bool:
    """Send what a rank staged; whether the checkpoint is complete now. ``saved_at`` in seconds since 1970.

    Raises:
        StoreError: nothing was added to what readers see.
        SavedAlreadyError: the rank saved this step of this run before.
        AbandonedError: the save was given up meanwhile.
    """
    token = secrets.token_hex(8)
    files = []
    for file in staged.files:
        key = staged.attempt.file(staged.rank, token, file.path)
        store.put_file(key, staged.directory / file.path)
        staged.check_unchanged(file)
        files.append(StoredFile(file.path, key, file.size, file.sha256))
    attempt = staged.attempt
    part = encoded(Part(attempt.step, attempt.run, staged.rank, world_size, saved_at, tuple(files)))
    if store.create(attempt.part(staged.rank), part) != part:
        store.delete(file.key for file in files)
        raise SavedAlreadyError(
            f"rank {staged.rank} saved step {attempt.step} of run {attempt.run} before: a run that is started again "
            "needs a name of its own"
        )
    return commit_if_whole(store, attempt, world_size)


def commit_if_whole(store: Store, attempt: Attempt, world_size: int) -> bool:
    """Write the manifest when all ``world_size`` parts are there; whether it is there now.

    Raises:
        AbandonedError: the save was given up.
        ManifestError: the parts are not of one save.
    """
    found = store.list(attempt.parts())
    if len(found) < world_size:
        return False
    parts = _parts(store, attempt, found)
    held = encoded(whole(attempt, parts)) if parts is not None else store.read(attempt.commit())
    if held is None:
        return False
    if parts is not None:
        held = store.create(attempt.commit(), held)
    if decoded(held) is None:
        raise AbandonedError(f"step {attempt.step}: the save took too long and was given up")
    return True


def _parts(store: Store, attempt: Attempt, found: Sequence[Entry]) -> list[Part] | None:
    """Every part; None where the manifest came to be there meanwhile."""
    parts: list[Part] = []
    with ThreadPoolExecutor(_READERS) as readers:
        for start in range(0, len(found), _READ_AT_ONCE):
            if start and store.read(attempt.commit()) is not None:
                return None
            keys = [entry.key for entry in found[start : start + _READ_AT_ONCE]]
            for key, content in zip(keys, readers.map(store.read, keys), strict=True):
                if content is None:
                    raise MissingError(f"{store}/{key} is not there any more")
                parts.append(decoded_part(content))
    return parts

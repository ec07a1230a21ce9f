"""Deletes what is not kept, in two steps, and never what somebody may be reading or writing.

- **A complete checkpoint** is first condemned: from then on nobody chooses it. After the grace it is deleted, unless a
  run has written down that it resumes from it. Whoever chose it just before needs less than the grace to write that
  down, so the collector sees it.
- **A save that was cut off** is given up when nothing was added to it for a day: the collector puts a mark in the very
  place of its manifest. Only one of the two can be there, so a slow rank either completes it or learns that it is too
  late; it never completes what is being deleted.

All ages are by the store's own clock. Several collectors at once do no harm.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from fleet.checkpoints.layout import COMMITS, CONDEMNED, FILES, PARTS, READERS, SET_ASIDE, Attempt, attempt_of
from fleet.checkpoints.manifest import ABANDONED, ManifestError, decoded
from fleet.checkpoints.retention import Retention, kept
from workload.checkpoint.finding import attempts, first_flaw, read
from workload.checkpoint.resuming import chosen_attempt
from workload.checkpoint.stores.store import Store
from workload.errors import DamagedCheckpointError, StoreError


@dataclass(frozen=True, slots=True)
class Collected:
    """What one pass did; ``problems`` are what a person should look at, one line each."""

    condemned: tuple[Attempt, ...]
    deleted: tuple[Attempt, ...]
    abandoned: tuple[Attempt, ...]
    uploads_removed: int
    problems: tuple[str, ...]


def collect(store: Store, retention: Retention) -> Collected:
    """One pass. A pass that was killed is taken up by the next."""
    now = _store_clock(store)
    problems: list[str] = []
    in_use = _in_use(store, now - retention.reading_seconds)
    aside = attempts(store, SET_ASIDE)
    condemned_at = {found: entry.modified for entry in store.list(CONDEMNED) if (found := attempt_of(entry.key))}
    deleted = [
        attempt
        for attempt, since in condemned_at.items()
        if since <= now - retention.grace_seconds and attempt not in in_use | aside
    ]
    for attempt in deleted:
        _delete(store, attempt)
    complete = _complete(store, attempts(store, COMMITS) - condemned_at.keys() - aside, problems)
    superfluous = sorted(complete - kept(complete, retention) - in_use)
    for attempt in superfluous:
        store.create(attempt.condemned(), b"{}")
    abandoned = _give_up(store, now - retention.abandoned_seconds)
    removed = store.sweep(retention.abandoned_seconds)
    return Collected(tuple(superfluous), tuple(deleted), abandoned, removed, tuple(problems))


def _store_clock(store: Store) -> float:
    key = f"clock/{secrets.token_hex(8)}"
    store.create(key, b"?")
    try:
        found = [entry.modified for entry in store.list("clock/") if entry.key == key]
    finally:
        store.delete([key])
    if not found:
        raise StoreError(f"{store}: what was stored just now is not there")
    return found[0]


def _in_use(store: Store, since: float) -> frozenset[Attempt]:
    """What runs have written down to resume from, and may still be reading. Older notes are removed."""
    found = set()
    for entry in store.list(READERS):
        if entry.modified <= since:
            store.delete([entry.key])
        elif (content := store.read(entry.key)) is not None:
            found.add(chosen_attempt(f"{store}/{entry.key}", content))
    return frozenset(attempt for attempt in found if attempt is not None)


def _complete(store: Store, committed: Iterable[Attempt], problems: list[str]) -> frozenset[Attempt]:
    """Those that can be resumed from. Damaged ones neither count as kept nor are deleted: somebody should look."""
    found = set()
    for attempt in committed:
        try:
            manifest = read(store, attempt)
        except DamagedCheckpointError as error:
            problems.append(str(error))
            continue
        if manifest is None:
            continue
        flaw = first_flaw(store, manifest)
        if flaw is None:
            found.add(attempt)
        else:
            problems.append(flaw)
    return frozenset(found)


def _delete(store: Store, attempt: Attempt) -> None:
    # The note that it is condemned goes last: as long as anything is there, nobody may choose it.
    for keys in (_keys(store, attempt), [attempt.commit()], [attempt.condemned()]):
        store.delete(keys)


def _keys(store: Store, attempt: Attempt) -> list[str]:
    return [entry.key for prefix in (attempt.files(), attempt.parts()) for entry in store.list(prefix)]


def _give_up(store: Store, since: float) -> tuple[Attempt, ...]:
    """Saves that nothing was added to after ``since``, and the marks of those that were given up before it."""
    newest: dict[Attempt, float] = {}
    for prefix in (FILES, PARTS):
        for entry in store.list(prefix):
            if attempt := attempt_of(entry.key):
                newest[attempt] = max(entry.modified, newest.get(attempt, 0.0))
    committed = {found: entry for entry in store.list(COMMITS) if (found := attempt_of(entry.key))}
    given_up = []
    for attempt, modified in sorted(newest.items()):
        # A manifest is longer than the mark; a mark with files beside it is of a collector that was killed.
        is_complete = attempt in committed and committed[attempt].size != len(ABANDONED)
        if not is_complete and modified <= since and _is_abandoned(store.create(attempt.commit(), ABANDONED)):
            store.delete(_keys(store, attempt))
            given_up.append(attempt)
    marks = [entry for attempt, entry in committed.items() if attempt not in newest and entry.modified <= since]
    store.delete(entry.key for entry in marks if entry.size == len(ABANDONED) and _is_abandoned(store.read(entry.key)))
    return tuple(given_up)


def _is_abandoned(content: bytes | None) -> bool:
    try:
        return content is not None and decoded(content) is None
    except ManifestError:
        return False

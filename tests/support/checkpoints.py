"""Ranks that save a checkpoint each way a test needs, and what a reader then sees."""

from collections.abc import Mapping
from pathlib import Path

from fleet.checkpoints.layout import Attempt
from workload.checkpoint import staging
from workload.checkpoint.committing import publish
from workload.checkpoint.finding import latest
from workload.checkpoint.resuming import restore
from workload.checkpoint.stores.store import Store

Files = Mapping[str, bytes]


def weights(step: int, rank: int, size: int = 10_000) -> dict[str, bytes]:
    """Files that differ by step and rank; one in a directory of its own."""
    return {
        "model.bin": f"{step}/{rank};".encode() * size,
        "optimizer/state.bin": f"optimizer {step}/{rank}".encode(),
    }


def save_rank(store: Store, scratch: Path, attempt: Attempt, rank: int, world_size: int, files: Files) -> bool:
    """As the saver does it, for one rank."""
    directory = staging.begin(scratch, attempt, rank)
    for path, content in files.items():
        (directory / path).parent.mkdir(exist_ok=True)
        (directory / path).write_bytes(content)
    staged = staging.finish(scratch, attempt, rank)
    complete = publish(store, staged, world_size, saved_at=1_000_000.0 + attempt.step)
    staging.discard(scratch, attempt, rank)
    return complete


def save(store: Store, scratch: Path, step: int, run: str = "run", *, size: int = 10_000) -> Attempt:
    """A whole one, by two ranks."""
    attempt = Attempt(step, run)
    done = [save_rank(store, scratch, attempt, rank, 2, weights(step, rank, size)) for rank in range(2)]
    assert done == [False, True]
    return attempt


def read_back(store: Store, into: Path, *, size: int = 10_000) -> int | None:
    """The step of the latest checkpoint, after both ranks' bytes were compared; None: there is none."""
    found = latest(store)
    assert found.passed_over == ()
    if found.manifest is None:
        return None
    for rank in range(2):
        directory = restore(store, found.manifest, rank, 2, into / str(rank))
        held = {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.bin")}
        assert held == weights(found.manifest.step, rank, size), f"rank {rank} of step {found.manifest.step}"
    return found.manifest.step

"""Compiling a graph into local disk, and promoting it under a lease."""

import contextlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from fleet.compile_cache.figures import Obtained, Source
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest
from workload.compile_cache.entry import State
from workload.compile_cache.flight.leases import Held
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers import files, promotion
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.promotion import Staged
from workload.errors import CacheError, CompilationFailedError, LeaseTableError

# Leaves a compiled graph in the folder. Raises CompilationFailedError when the compiler refuses the graph; anything
# else that it raises says nothing about the graph, and another node may try.
Compile = Callable[[Path], None]
LOG: Final = "model.log"
_LOG_BYTES: Final = 64 * 1024
_WORDS: Final = 300
_ATTEMPTS: Final = 3
_LOOK_AGAIN: Final = 1.0


def compile_locally(look: Lookup, graph: Graph, compile_into: Compile) -> float:
    """Compile it, or wait for a compiler that is at work on it here; the seconds that took.

    Raises:
        CompilationFailedError: the compiler refused it. What its cache remembers of that is removed: it never retries.
    """
    local, began = look.local, time.monotonic()
    while not local.clear(graph) and local.is_being_compiled(graph):
        look.sleep(_LOOK_AGAIN)
    if local.has(graph):
        return time.monotonic() - began
    try:
        compile_into(local.folder(graph))
    except CompilationFailedError as error:
        local.clear(graph)
        raise CompilationFailedError(f"{graph}: {error}") from error
    seconds = time.monotonic() - began
    if local.has(graph):
        return seconds
    reason = _reason(local, graph)
    local.clear(graph)
    raise CompilationFailedError(f"{graph}: {reason}")


def compile_for_fleet(
    look: Lookup, graph: Graph, compile_into: Compile, started: float, held: Held, *, is_expected: bool
) -> Obtained:
    """With the lease in hand: look once more, compile, promote, and say in the lease what came of it.

    ``is_expected``: the lease's last holder may have promoted it, and that may show late.

    Raises:
        CompilationFailedError: the compiler refused the graph.
    """
    found = look.patiently(graph, started, held.terms.visible, is_expected=is_expected)
    if found is not None:
        _said(lambda: held.finish(found.compilation or 0.0))
        return found
    try:
        seconds = compile_locally(look, graph, compile_into)
    except CompilationFailedError as error:
        reason = str(error)
        _said(lambda: held.fail(reason))
        raise
    except BaseException:
        _said(held.release)
        raise
    problem = promote(look, graph, held, seconds)
    source = Source.UNSHARED if problem else Source.COMPILED
    return Obtained(source, time.monotonic() - started, seconds, problem)


def promote(look: Lookup, graph: Graph, held: Held, seconds: float) -> str:
    """Put a compiled graph into the shared tier, if the lease still holds; why it could not be, or nothing."""
    try:
        staged = _stage(look, graph, held, seconds)
    except (OSError, CacheError) as error:
        _said(held.release)
        return f"{graph}: not promoted: {error}"
    try:
        if not held.confirm():
            promotion.drop(staged)
            return f"{graph}: not promoted: the lease went to another node while this one was away"
        promotion.publish(look.shared, staged)
        held.finish(seconds)
    except (OSError, LeaseTableError) as error:
        # It may be promoted all the same. The lease ends by itself, and says so to the next holder, who looks for long.
        return f"{graph}: perhaps not promoted: {error}"
    return ""


def share_again(look: Lookup, manifest: Manifest) -> str:
    """Promote a graph that has come from S3 to local disk; why it could not be, or nothing.

    Without a lease: it was promoted under one before, and where it is there by now, that one stays.
    """
    folder = str(look.local.folder(manifest.graph))
    token, seconds, holder = manifest.token, manifest.seconds, manifest.holder
    try:
        staged = promotion.stage(look.shared, manifest.graph, folder, token=token, seconds=seconds, holder=holder)
        promotion.publish(look.shared, staged)
    except (OSError, CacheError) as error:
        return f"{manifest.graph}: not in the shared tier again: {error}"
    return ""


def _stage(look: Lookup, graph: Graph, held: Held, seconds: float) -> Staged:
    # Another node would compile for half an hour what one more attempt may share.
    folder = str(look.local.folder(graph))
    stage = partial(promotion.stage, look.shared, graph, folder, token=held.token, seconds=seconds, holder=held.holder)
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(OSError):
            return stage()
    return stage()


def _said(say: Callable[[], bool]) -> None:
    try:
        say()
    except LeaseTableError:
        # The lease's end says it, later.
        return


def _reason(local: LocalTier, graph: Graph) -> str:
    if local.state(graph) is not State.FAILED:
        return "the compiler left no finished graph"
    try:
        lines = files.read_end(f"{local.folder(graph)}/{LOG}", _LOG_BYTES).decode("utf-8", "replace").split("\n")
    except OSError as error:
        return f"the compiler failed, and {LOG} cannot be read: {error.strerror}"
    last = next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")
    return last[:_WORDS] or f"the compiler failed and wrote nothing into {LOG}"

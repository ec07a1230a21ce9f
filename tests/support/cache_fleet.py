"""A fleet of processes that all want the same graphs, over a file system that cannot be trusted, some of them killed.

Each process is one of several on a node: it has the node's local tier, a client of the shared one of its own, and a
lease table that all share. A compilation is a short wait and a line in a ledger. A process that is killed is started
again under another name, as a job's next attempt is.
"""

import json
import multiprocessing
import multiprocessing.connection
import os
import random
import signal
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, Final

from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row, State, Terms
from tests.support import compiled_graphs
from tests.support.lease_tables import FileTable
from tests.support.nfs import NfsClient, die
from workload.compile_cache.flight.single_flight import CompileCache
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier

# Of every thousand calls that change something in the shared tier, this many end the process, and of every thousand
# compilations this many; while a process holds a lease.
_DEADLY_CALLS: Final = 8
_DEADLY_COMPILATIONS: Final = 120


@dataclass(frozen=True)
class Plan:
    """How many of what; ``late`` is how long names and contents may show late, seconds.

    No process is killed that starts after ``kills`` others were. ``stale`` and ``lost`` are chances.
    """

    processes: int
    nodes: int
    graphs: int
    terms: Terms
    late: float
    kills: int
    limit: float
    compilation: float = 0.03
    stale: float = 0.01
    lost: float = 0.2


@dataclass
class Outcome:
    """Figures of a run. ``unfinished`` processes had to be ended, ``failed`` ones ended with an exception.

    ``extra`` compilations had no right to be. ``overtaken`` holders were not killed and came back too late: the machine
    did not let them renew. ``longest_past_lease``: how much later than a dead holder's lease a waiter noticed, seconds.
    """

    seconds: float = 0.0
    obtained: Counter[str] = field(default_factory=Counter)
    compiled: int = 0
    killed: int = 0
    killed_while_promoting: int = 0
    extra: list[str] = field(default_factory=list)
    missing: int = 0
    corrupt: int = 0
    unfinished: int = 0
    failed: int = 0
    overtaken: int = 0
    longest_past_lease: float = 0.0
    takeovers: int = 0
    injected: Counter[str] = field(default_factory=Counter)
    hit_rate: float = 0.0
    problems: list[str] = field(default_factory=list)


class Ledger:
    """Lines that processes append in one write each, so that a kill loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, **fields: object) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(descriptor, json.dumps(fields).encode() + b"\n")
        os.close(descriptor)

    def lines(self, kind: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self._path.read_bytes().splitlines()]
        return [line for line in found if line["kind"] == kind]


class WatchedTable(FileTable):
    """Knows how long after a lease's end its waiter noticed. A waiter that looked before the end was waiting for it."""

    def __init__(self, path: Path, terms: Terms) -> None:
        super().__init__(path)
        self._terms = terms
        self._waiting: dict[Graph, int] = {}
        self.longest = 0.0
        self.takeovers = 0

    def read(self, graph: Graph) -> Row | None:
        row = super().read(graph)
        if row is not None and row.state in {State.COMPILING, State.PROMOTING}:
            late = time.time() - row.until - self._terms.skew
            if late > 0 and self._waiting.get(graph) == row.revision:
                self.longest = max(self.longest, late)
            self._waiting[graph] = row.revision
        return row

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        is_written = super().swap(graph, seen, new)
        if is_written and seen is not None and new.state is State.COMPILING and seen.token != new.token:
            self.takeovers += seen.state is not State.FREE
        return is_written


def run(folder: Path, plan: Plan) -> Outcome:
    """Start everything, start the killed again, wait for the end, and count."""
    (folder / "shared").mkdir(parents=True)
    FileTable(folder / "leases")
    ledger = Ledger(folder / "ledger")
    ledger.write(kind="start")
    context = multiprocessing.get_context("fork")
    outcome = Outcome()
    started = time.monotonic()

    def start(number: int, attempt: int) -> ForkProcess:
        kills = plan.kills > outcome.killed
        process = context.Process(target=_worker, args=(folder, plan, number, attempt, kills))
        process.start()
        return process

    running = {number: (start(number, 0), 0) for number in range(plan.processes)}
    while running and time.monotonic() - started < plan.limit:
        multiprocessing.connection.wait([process.sentinel for process, _ in running.values()], timeout=1)
        for number, (process, attempt) in list(running.items()):
            if process.is_alive():
                continue
            process.join()
            del running[number]
            if process.exitcode == -signal.SIGKILL:
                outcome.killed += 1
                running[number] = (start(number, attempt + 1), attempt + 1)
            elif process.exitcode:
                outcome.failed += 1
    outcome.unfinished = len(running)
    for process, _ in running.values():
        process.kill()
        process.join()
    outcome.seconds = time.monotonic() - started
    _count(folder, plan, ledger, outcome)
    return outcome


def _worker(folder: Path, plan: Plan, number: int, attempt: int, kills: bool) -> None:
    node, holder = number % plan.nodes, f"{number}.{attempt}"
    chance = random.Random(f"{number}.{attempt}")  # noqa: S311 - repeatable, not secret
    ledger = Ledger(folder / "ledger")
    table = WatchedTable(folder / "leases", plan.terms)
    current: list[str] = [""]

    def end(call: str) -> None:
        ledger.write(kind="killed", holder=holder, graph=current[0], call=call)
        die()

    def each_call(call: str) -> None:
        if kills and current[0] and chance.randrange(1000) < _DEADLY_CALLS:
            end(call)

    client = NfsClient(folder / "shared", seed=number * 100 + attempt, late=plan.late, stale=plan.stale, lost=plan.lost)
    client.each_call = each_call
    client.install()
    cache = CompileCache(
        LocalTier(folder / f"node-{node}"), SharedTier(folder / "shared"), table, terms=plan.terms, holder=holder
    )
    wanted = [compiled_graphs.graph(each) for each in range(plan.graphs)]
    chance.shuffle(wanted)
    corrupt = 0
    sources: Counter[str] = Counter()
    for graph in wanted:

        def compile_into(path: Path, graph: Graph = graph) -> None:
            current[0] = str(graph)
            time.sleep(plan.compilation * chance.uniform(0.5, 1.5))
            if kills and chance.randrange(1000) < _DEADLY_COMPILATIONS:
                end("compiling")
            compiled_graphs.write(graph, path)
            ledger.write(kind="compiled", holder=holder, graph=str(graph))

        obtained = cache.obtain(graph, compile_into)
        current[0] = ""
        sources[obtained.source.value] += 1
        if obtained.problem:
            ledger.write(kind="problem", holder=holder, graph=str(graph), text=obtained.problem)
        corrupt += not compiled_graphs.is_whole(graph, cache.local.folder(graph))
    ledger.write(
        kind="ended",
        sources=sources,
        corrupt=corrupt,
        longest=table.longest,
        takeovers=table.takeovers,
        tally=asdict(cache.tally),
        injected={
            "late names": client.late_names,
            "late contents": client.late_blocks,
            "stale handles": client.stale_handles,
            "lost answers": client.lost_answers,
        },
    )


def _count(folder: Path, plan: Plan, ledger: Ledger, outcome: Outcome) -> None:
    shared = SharedTier(folder / "shared")
    killed = {(line["holder"], line["graph"]) for line in ledger.lines("killed")}
    outcome.killed_while_promoting = sum(line["call"] != "compiling" for line in ledger.lines("killed"))
    for line in ledger.lines("ended"):
        outcome.obtained.update(line["sources"])
        outcome.injected.update(line["injected"])
        outcome.corrupt += line["corrupt"]
        outcome.takeovers += line["takeovers"]
        outcome.longest_past_lease = max(outcome.longest_past_lease, line["longest"])
    overtaken = {
        (line["holder"], line["graph"]) for line in ledger.lines("problem") if "went to another" in line["text"]
    }
    outcome.problems = [line["text"] for line in ledger.lines("problem") if "went to another" not in line["text"]]
    outcome.overtaken = len(overtaken)
    promoted = {}
    for number in range(plan.graphs):
        manifest = shared.find(compiled_graphs.graph(number))
        outcome.missing += manifest is None
        if manifest is not None:
            promoted[str(manifest.graph)] = manifest.holder
            whole = compiled_graphs.is_whole(
                manifest.graph, shared.root / manifest.graph.version / manifest.graph.module
            )
            outcome.corrupt += not whole
    for line in ledger.lines("compiled"):
        outcome.compiled += 1
        holder, graph = line["holder"], line["graph"]
        if promoted.get(graph) != holder and (holder, graph) not in killed | overtaken:
            outcome.extra.append(f"{graph} by {holder}, promoted by {promoted.get(graph)}")
    found = outcome.obtained["local"] + outcome.obtained["fetched"]
    outcome.hit_rate = found / max(1, outcome.obtained.total())

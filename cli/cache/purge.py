"""`fleet cache purge`: take out what stands in the way, as failures that are remembered, and what is damaged.

Leases and objects in S3 are changed from here. Graphs lie in the shared tier too, which only a job with the precompile
role may change, on a node of a training fleet.

When archives go, what tells where a graph lies names one that stays, or goes too.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

import typer

from cli.account import Account
from cli.answers import print_json, refuse, say
from cli.cache import artifact_bucket, leases, maintenance_job
from cli.cache.leases import Lease
from cli.cache.options import AsJson, Fleet, Yes, compiling_fleet
from cli.cache.promote import saying, tell
from cli.cache.targets import CompileCache, place_of
from cli.named import Name, answering
from environments.model import Environment
from fleet.compile_cache import whereabouts
from fleet.compile_cache.artifact import ROOT
from fleet.compile_cache.graph import Graph, GraphNameError, parse
from fleet.compile_cache.lease import Standing

_ARCHIVE = ".tar"


def after(stored: Iterable[str], gone: Iterable[str]) -> tuple[list[str], dict[Graph, str]]:
    """Keys that go with the archives among ``gone``; and of graphs that another artifact has too, its archive there."""
    stored, gone = frozenset(stored), frozenset(gone)
    left = defaultdict(list)
    for graph, key in _archives(stored - gone):
        left[graph].append(key)
    told = sorted({graph for graph, _ in _archives(gone) if whereabouts.key(graph) in stored})
    return (
        [whereabouts.key(graph) for graph in told if graph not in left],
        {graph: min(left[graph]) for graph in told if graph in left},
    )


def _archives(keys: Iterable[str]) -> Iterator[tuple[Graph, str]]:
    for key in keys:
        if key.endswith(_ARCHIVE):
            try:
                yield parse("/".join(key.removesuffix(_ARCHIVE).split("/")[-2:])), key
            except GraphNameError:
                # Somebody else's.
                continue


_POLL_SECONDS: Final = 10.0
_SHOWN: Final = 5


@dataclass(slots=True)
class Plan:
    """Leases to free, objects to delete, graphs to remove from the shared tier.

    ``moved``: graphs that another artifact has too, and their archives there.
    """

    free: list[Lease] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    moved: dict[Graph, str] = field(default_factory=dict)

    def words(self) -> list[str]:
        """What would be done, a line each."""
        freed = [f"{each.graph} ({each.standing})" for each in self.free]
        return [
            *_some("leases freed", freed),
            *_some("objects deleted from S3", self.keys),
            *_some("graphs removed from the shared tier", [str(graph) for graph in self.graphs]),
        ]


def purge(  # noqa: PLR0913, PLR0917 - one for each option
    environment: Name,
    failed: Annotated[
        bool, typer.Option("--failed", help="Failures that are remembered: they are tried again.")
    ] = False,
    stuck: Annotated[bool, typer.Option("--stuck", help="Leases whose holders died: nobody waits for them.")] = False,
    artifact: Annotated[
        list[str] | None, typer.Option(help="An artifact, by the hash that `fleet cache status` shows.")
    ] = None,
    graph: Annotated[
        list[str] | None, typer.Option(help="A graph, as neuronxcc-VERSION/MODULE_KEY: from S3 and the shared tier.")
    ] = None,
    fleet: Fleet = None,
    yes: Yes = False,
    json_: AsJson = False,
) -> None:
    """Take failures, dead leases, artifacts or graphs out of the cache. It asks first."""
    if json_ and not yes:
        refuse("--json asks nothing back: add --yes")
    if not (failed or stuck or artifact or graph):
        refuse("nothing is named: add --failed, --stuck, --artifact HASH or --graph NAME")
    if graph and not fleet:
        refuse("--graph removes it from the shared tier too, by a job on a node of a training fleet: add --fleet")
    with answering(environment) as of:
        if fleet:
            compiling_fleet(of, fleet)
        account, now = Account(of.region), time.time()
        place = place_of(account, of)
        plan = _plan(account, place, _standings(failed, stuck), artifact or [], _graphs(graph or []), now)
        if not plan.words():
            refuse("there is nothing of that in the cache")
        _confirm(plan, yes=yes, json_=json_)
        changed = leases.free(account, place, plan.free, now)
        artifact_bucket.put_locations(account, place, plan.moved)
        artifact_bucket.delete(account, place, plan.keys)
        if not json_:
            _say(plan, changed)
        done = _remove(account, of, fleet, plan.graphs, json_=json_)
    _answer(plan, changed, done, json_=json_)


def _plan(
    account: Account,
    place: CompileCache,
    standings: set[Standing],
    digests: Sequence[str],
    graphs: Sequence[Graph],
    now: float,
) -> Plan:
    plan = Plan(graphs=list(graphs))
    if standings:
        plan.free = [each for each in leases.every(account, place, now) if each.standing in standings]
    if digests or graphs:
        stored = artifact_bucket.objects(account, place, f"{ROOT}/")
        for digest in digests:
            found = [key for key in stored if key.split("/")[2:3] == [digest]]
            if not found:
                refuse(f"no artifact has the hash {digest}: `fleet cache status` lists them")
            plan.keys += found
        # Of artifacts that go on the whole there is nothing more to say.
        tars = {f"/{graph}.tar" for graph in graphs}
        plan.keys += [key for key in stored if any(key.endswith(tar) for tar in tars) and key not in plan.keys]
        with_them, plan.moved = after(stored, plan.keys)
        plan.keys += with_them
    return plan


def _standings(failed: bool, stuck: bool) -> set[Standing]:
    return ({Standing.FAILED, Standing.REFUSED} if failed else set()) | ({Standing.STUCK} if stuck else set())


def _graphs(names: Sequence[str]) -> list[Graph]:
    try:
        return [parse(name) for name in names]
    except GraphNameError as error:
        refuse(f"{error}; it is named as neuronxcc-2.21.18209.0+043b1bf7/MODULE_12+abcd")


def _confirm(plan: Plan, *, yes: bool, json_: bool) -> None:
    if not json_:
        for line in plan.words():
            say(line)
    if not yes:
        typer.confirm("Purge that?", abort=True)


def _remove(
    account: Account, of: Environment, fleet: str | None, graphs: Sequence[Graph], *, json_: bool
) -> maintenance_job.MaintenanceJob | None:
    """By the library's own purge, which frees the leases of these graphs too, unless somebody works on them."""
    if not graphs or fleet is None:
        return None
    job_id = maintenance_job.start(account, of, fleet, "purge", [str(graph) for graph in graphs])
    return maintenance_job.follow(account, job_id, saying(json_=json_), _POLL_SECONDS)


def _answer(plan: Plan, changed: Sequence[str], done: maintenance_job.MaintenanceJob | None, *, json_: bool) -> None:
    if not json_:
        if done is not None:
            tell(done, json_=False)
        return
    print_json({"leases_freed": _freed(plan, changed), "leases_taken_meanwhile": list(changed),
             "objects_deleted": plan.keys, "graphs": [str(graph) for graph in plan.graphs],
             "job": done and done.job_id, "job_status": done and done.status})  # fmt: skip
    if done is not None and done.status != maintenance_job.SUCCEEDED:
        raise typer.Exit(1)


def _say(plan: Plan, changed: Sequence[str]) -> None:
    left = f", {len(changed)} left: somebody took them meanwhile" if changed else ""
    said = f"{len(_freed(plan, changed))} leases freed{left}; {len(plan.keys)} objects deleted"
    say(said)


def _freed(plan: Plan, changed: Sequence[str]) -> list[str]:
    return [name for each in plan.free if (name := str(each.graph)) not in changed]


def _some(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [f"{title}: {', '.join(names[:_SHOWN])}{more}"]

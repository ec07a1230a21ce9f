"""``python -m workload.compile_cache VERB [NAME...]``: one JSON object, for scripts and other programs.

    status                   what is in the tiers
    warm [VERSION...]        fetch what is missing here, of these compilers or of all
    promote                  share what was compiled here
    purge [GRAPH...]         remove failures, dead locks and damage; and these graphs, whatever they are
    evict                    remove old graphs, and those of old compilers
    archive ARTIFACT         put what was compiled here, and is promoted, into S3
    restore ARTIFACT         promote it from there

ARTIFACT is a model, its version, the SDK's version and sequence lengths as 128,256, with batch sizes as 128,256x1,4.
Exit code 0: done; 1: something of it was not, the object or one line says what; 2: wrong arguments. Everything else is
in environment variables: ``settings.py``.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from fleet.compile_cache.artifact import Artifact, named
from fleet.compile_cache.eviction import EvictionPolicy
from fleet.compile_cache.graph import Graph, GraphNameError, parse
from workload.compile_cache import settings as configuration
from workload.compile_cache.flight.leases import LeaseTable
from workload.compile_cache.flight.single_flight import OnMiss
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.settings import Settings
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.upkeep import cleaning, promoting, status, warming
from workload.errors import CacheError

VERBS = ("status", "warm", "promote", "purge", "evict", "archive", "restore")


@dataclass(frozen=True, slots=True)
class Command:
    """A verb with its names, on the tiers of one node."""

    settings: Settings
    look: Lookup

    def run(self, verb: str, names: Sequence[str]) -> object:
        """The verb's report. Raises CacheError."""
        verbs: dict[str, Callable[[], object]] = {
            "status": lambda: status.status(self.look),
            "warm": lambda: warming.warm(self.look, names or None),
            "promote": lambda: promoting.promote_all(self.look, self._table(verb)),
            "purge": lambda: self._purge(verb, [parse(name) for name in names]),
            "evict": lambda: cleaning.evict(self.look.shared, self._table(verb), EvictionPolicy()),
            "archive": lambda: self._cold(verb).archive(_artifact(names), self._promoted_here()),
            "restore": lambda: self._cold(verb).restore(_artifact(names)),
        }
        return verbs[verb]()

    def _purge(self, verb: str, graphs: Sequence[Graph]) -> object:
        # Who waits for others' leases may not write them.
        shares = self.settings.table and self.settings.on_miss is not OnMiss.WAIT
        return cleaning.purge(self.look, self._table(verb) if shares else None, graphs)

    def _promoted_here(self) -> list[Graph]:
        shown = self.look.shared.listing()
        return [graph for graph in self.look.local.graphs() if graph in shown]

    def _table(self, verb: str) -> LeaseTable:
        if not self.settings.table:
            raise CacheError(f"{verb}: {configuration.PREFIX}TABLE is not set; the shared tier is left alone without")
        # Reading botocore's data takes longer than a warm-up that finds everything in place.
        from workload.compile_cache.adapters import DynamoLeases  # noqa: PLC0415 - see above

        return DynamoLeases(self.settings.table, self.settings.region)

    def _cold(self, verb: str) -> ColdTier:
        if not self.settings.bucket:
            raise CacheError(f"{verb}: {configuration.PREFIX}BUCKET is not set: where artifacts are kept")
        from workload.compile_cache.adapters import S3Objects  # noqa: PLC0415 - see above

        return ColdTier(S3Objects(self.settings.bucket, self.settings.region), self.look.shared, self.look.local)


def _artifact(names: Sequence[str]) -> Artifact:
    try:
        model, model_version, sdk_version, shapes = names
        return named(model, model_version, sdk_version, shapes)
    except ValueError as error:
        raise CacheError(f"not MODEL MODEL_VERSION SDK_VERSION LENGTHS: {error}") from error


def main(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run one verb and print its report; the exit code."""
    if not arguments or arguments[0] not in VERBS:
        sys.stderr.write(f"usage: python -m workload.compile_cache {'|'.join(VERBS)} [NAME...]\n")
        return 2
    try:
        settings = configuration.read(variables)
        command = Command(settings, Lookup(LocalTier(settings.local), SharedTier(settings.shared)))
        report = command.run(arguments[0], arguments[1:])
    except (CacheError, GraphNameError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    fields = asdict(report)  # type: ignore[call-overload]  # every report is a dataclass
    sys.stdout.write(json.dumps(fields) + "\n")
    return 1 if fields.get("problems") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

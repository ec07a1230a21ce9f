"""The bucket: artifacts with their graphs, sizes and ages, and the look that tells whether one of them is ready."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError

from cli.account import Account, AwsError
from cli.cache.targets import CompileCache
from fleet.compile_cache import index, whereabouts
from fleet.compile_cache.artifact import ROOT, Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import ArtifactIndexError
from fleet.compile_cache.readiness import Sight, is_index, read_index

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import ListObjectsV2RequestTypeDef

_ABSENT: Final = ("NoSuchKey", "404")
# An index is a line for each graph; ten thousand graphs are one megabyte.
_LARGEST_INDEX: Final = 16 * 1024 * 1024
# A million objects: beyond, a list is no answer any more.
_MOST_PAGES: Final = 1000
_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Stored:
    """One object. ``size`` in bytes, ``written`` UTC."""

    size: int
    written: datetime


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """An artifact in the bucket; ``problem`` says why its index cannot be read, and then ``artifact`` is None.

    ``size`` is that of all objects below ``prefix``, in bytes; ``missing`` counts graphs that the index names.
    """

    prefix: str
    artifact: Artifact | None
    compilers: tuple[str, ...]
    graphs: int
    missing: int
    size: int
    written: datetime
    problem: str = ""

    @property
    def digest(self) -> str:
        """The last part of its prefix, by which commands name it."""
        return self.prefix.rpartition("/")[2]


def objects(account: Account, place: CompileCache, prefix: str) -> dict[str, Stored]:
    """Everything below ``prefix``, by key. Raises AwsError."""
    found: dict[str, Stored] = {}
    asked: ListObjectsV2RequestTypeDef = {"Bucket": place.bucket, "Prefix": prefix}
    for _ in range(_MOST_PAGES):
        page = account.s3.list_objects_v2(**asked)
        for each in page.get("Contents", []):
            found[each["Key"]] = Stored(int(each["Size"]), each["LastModified"])
        if not page.get("IsTruncated"):
            return found
        asked["ContinuationToken"] = page["NextContinuationToken"]
    raise AwsError(f"s3://{place.bucket}/{prefix} holds more than {_MOST_PAGES * _AT_ONCE:,} objects")


def artifacts(account: Account, place: CompileCache) -> list[StoredArtifact]:
    """Every artifact that has an index, the newest first. Raises AwsError."""
    stored = objects(account, place, f"{ROOT}/")
    below: dict[str, dict[str, Stored]] = {key.rpartition("/")[0]: {} for key in stored if is_index(key)}
    for key, each in stored.items():
        # A graph lies one folder deeper, that of its compiler.
        prefix = key.rpartition("/")[0] if is_index(key) else key.rsplit("/", 2)[0]
        if prefix in below:
            below[prefix][key] = each
    found = [_stored_artifact(account, place, prefix, of) for prefix, of in below.items()]
    return sorted(found, key=lambda each: each.written, reverse=True)


def contents(account: Account, place: CompileCache, artifact: Artifact) -> Sight:
    """What tells whether ``artifact`` is ready. Raises AwsError."""
    prefix = artifact.prefix
    stored = objects(account, place, f"{prefix.rpartition('/')[0]}/")
    content = content_of(account, place, index.key(artifact)) if index.key(artifact) in stored else None
    relatives = [] if content is not None else list(_relatives(account, place, stored))
    return Sight(content, frozenset(stored), tuple(relatives))


def delete(account: Account, place: CompileCache, keys: list[str]) -> None:
    """Delete them, indices first: without its index an artifact is not there, and with it all of it should be.

    Raises:
        AwsError: some of them could not be deleted.
    """
    for some in ([key for key in keys if is_index(key)], [key for key in keys if not is_index(key)]):
        for first in range(0, len(some), _AT_ONCE):
            answer = account.s3.delete_objects(
                Bucket=place.bucket,
                Delete={"Objects": [{"Key": key} for key in some[first : first + _AT_ONCE]], "Quiet": True},
            )
            for error in answer.get("Errors", []):
                raise AwsError(f"s3://{place.bucket}/{error.get('Key')} is not deleted: {error.get('Message')}")


def put_locations(account: Account, place: CompileCache, archives: Mapping[Graph, str]) -> None:
    """Say of graphs that they lie in these archives. Raises AwsError."""
    for graph, key in archives.items():
        body = whereabouts.encode(graph, key)
        account.s3.put_object(Bucket=place.bucket, Key=whereabouts.key(graph), Body=body)


def _stored_artifact(account: Account, place: CompileCache, prefix: str, of: Mapping[str, Stored]) -> StoredArtifact:
    key = f"{prefix}/{index.NAME}"
    size, written = sum(each.size for each in of.values()), of[key].written
    content = content_of(account, place, key)
    if content is None:
        return StoredArtifact(prefix, None, (), 0, 0, size, written, f"{key}: gone since it was listed")
    try:
        read = read_index(key, content)
    except ArtifactIndexError as error:
        return StoredArtifact(prefix, None, (), 0, 0, size, written, str(error))
    missing = sum(index.graph_key(read.artifact, graph) not in of for graph in read.graphs)
    compilers = tuple(sorted({graph.version for graph in read.graphs}))
    return StoredArtifact(prefix, read.artifact, compilers, len(read.graphs), missing, size, written)


def _relatives(account: Account, place: CompileCache, stored: Mapping[str, Stored]) -> Iterator[Artifact]:
    for key in stored:
        content = content_of(account, place, key) if is_index(key) else None
        if content is not None:
            try:
                yield read_index(key, content).artifact
            except ArtifactIndexError:
                # It is no help; `fleet cache status` tells of it.
                continue


def content_of(account: Account, place: CompileCache, key: str) -> bytes | None:
    """An object of a reasonable size; None: there is none. Raises AwsError."""
    answer = account.find(_ABSENT, account.s3.get_object, Bucket=place.bucket, Key=key)
    if answer is None:
        return None
    try:
        return answer["Body"].read(_LARGEST_INDEX)
    except (BotoCoreError, OSError) as error:
        raise AwsError(f"s3://{place.bucket}/{key} broke off: {error}") from error

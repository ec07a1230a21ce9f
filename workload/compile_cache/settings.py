"""What a process is told about the cache, in environment variables: a job definition can set nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet.compile_cache.graph import LOCAL_FOLDER
from workload.compile_cache.flight.single_flight import OnMiss
from workload.errors import CacheError

PREFIX: Final = "NEURON_FLEET_CACHE_"


@dataclass(frozen=True, slots=True)
class Settings:
    """``table`` and ``bucket`` are empty where there is none. ``on_miss`` is what the workload's role allows."""

    local: Path
    shared: Path
    region: str
    table: str
    bucket: str
    on_miss: OnMiss


def read(variables: Mapping[str, str]) -> Settings:
    """From ``NEURON_FLEET_CACHE_SHARED`` and its siblings ``LOCAL``, ``TABLE``, ``BUCKET`` and ``ON_MISS``.

    Raises:
        CacheError: one that is needed is missing, or not what it can be.
    """
    shared = variables.get(f"{PREFIX}SHARED", "")
    if not shared:
        raise CacheError(f"{PREFIX}SHARED is not set: the folder where the shared compile cache is mounted")
    region = variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION", "")
    table, bucket = variables.get(f"{PREFIX}TABLE", ""), variables.get(f"{PREFIX}BUCKET", "")
    if (table or bucket) and not region:
        raise CacheError("AWS_REGION is not set: the region of the lease table and the bucket")
    default = OnMiss.SHARE if table else OnMiss.ALONE
    try:
        on_miss = OnMiss(variables.get(f"{PREFIX}ON_MISS", default.value))
    except ValueError as error:
        raise CacheError(f"{PREFIX}ON_MISS: {error}; one of {', '.join(OnMiss)}") from error
    if on_miss in {OnMiss.SHARE, OnMiss.WAIT} and not table:
        raise CacheError(f"{PREFIX}TABLE is not set: to {on_miss.value} needs the lease table")
    return Settings(Path(variables.get(f"{PREFIX}LOCAL", LOCAL_FOLDER)), Path(shared), region, table, bucket, on_miss)

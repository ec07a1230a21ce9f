"""How a container finds the compile cache: the variables of ``workload/compile_cache``, and what is mounted."""

from typing import Final

from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam

from fleet.compile_cache.graph import LOCAL_FOLDER
from stacks.compile_cache import CompileCacheStack

PREFIX: Final = "NEURON_FLEET_CACHE_"
# The compiler's own variable.
COMPILER_FOLDER: Final = "NEURON_COMPILE_CACHE_URL"
SHARED: Final = "/mnt/neuron-compile-cache"
# A training role may read the shared tier only, so what nobody compiles for the fleet is compiled for its node.
ON_MISS: Final = "wait"


def told(local: str, **more: str) -> dict[str, str]:
    """Where the tiers are, ``local`` for the compiler too: it works on local disk, because locks do not hold on NFS."""
    return {
        COMPILER_FOLDER: local,
        f"{PREFIX}LOCAL": local,
        f"{PREFIX}SHARED": SHARED,
        **{f"{PREFIX}{name}": value for name, value in more.items()},
    }


def told_to_job(compile_cache: CompileCacheStack) -> dict[str, str]:
    """What a training job is told. It may write no tier but its node's own, and so waits for who may, or compiles."""
    place = {"TABLE": compile_cache.leases.table_name, "BUCKET": compile_cache.bucket_name}
    return told(LOCAL_FOLDER, **place, ON_MISS=ON_MISS)


def allow_job(role: iam.IRole, compile_cache: CompileCacheStack) -> None:
    """Let a training job's ``role`` read what ``told_to_job`` names."""
    compile_cache.grant_read(role)
    compile_cache.grant_wait(role)
    compile_cache.grant_restore(role)


def shared_tier(compile_cache: CompileCacheStack, *, writes: bool = False) -> batch.EcsVolume:
    """The shared tier, through the access point of those who read, or write."""
    access_point = compile_cache.writer if writes else compile_cache.reader
    return batch.EcsVolume.efs(
        name="shared-cache",
        container_path=SHARED,
        file_system=compile_cache.file_system,
        access_point_id=access_point.access_point_id,
        enable_transit_encryption=True,
        use_job_role=True,
        readonly=not writes,
    )

"""Scripts of simulated nodes for the tests."""

from local.simulation.script import Phase, PhaseKind, Script

START = 1_800_000_000.0
RUNNING = Phase(START, PhaseKind.RUNNING, tensor_engine_percent=42, core_percent=97)


def script(*phases: Phase, instance_type: str = "trn1.32xlarge", lnc: int = 1, runtimes: int = 4) -> Script:
    """A node with the given phases; without any it runs from the start."""
    return Script(
        node="i-0123456789abcdef0",
        instance_type=instance_type,
        availability_zone="us-east-2c",
        availability_zone_id="use2-az3",
        region="us-east-2",
        lnc=lnc,
        dtype="bf16",
        runtimes=runtimes,
        seed=7,
        phases=phases or (RUNNING,),
    )


def phase(kind: PhaseKind, minute: float = 0) -> Phase:
    """A phase that starts at ``minute`` with the figures of a busy node."""
    return Phase(START + 60 * minute, kind, tensor_engine_percent=42, core_percent=97, device=5)

"""What somebody asks for: one training job, as plain values."""

from dataclasses import dataclass

from fleet.neuron_software import Framework


@dataclass(frozen=True, slots=True)
class Parallel:
    """How ranks share the work: their product is the world size. ``data`` None: whatever the others leave."""

    tensor: int = 1
    pipeline: int = 1
    data: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One job on one fleet. A rank is a process on one logical core."""

    name: str
    owner: str
    fleet: str
    nodes: int
    image: str
    """Container image; empty: nobody named one."""
    command: tuple[str, ...]
    parallel: Parallel = Parallel()
    cores_per_node: int | None = None
    """Logical cores of each node that it uses, as where another job validates on the rest; None: all."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables of every container."""
    checkpoint: str = ""
    """Where checkpoints are kept: ``s3://bucket/prefix``, or a directory that every node mounts; empty: nowhere."""
    every_steps: int | None = None
    every_minutes: float | None = None
    """How often it saves; None: as its script decides."""
    tokens_wanted: float | None = None
    """Tokens after which the job is done; None: it ends by itself."""
    longest_hours: float | None = None
    """Hours after which an attempt is ended whatever it does."""
    priority: int | None = None
    """Among the jobs of its owner that wait, the highest comes first; None: the fleet's own."""
    neuron_sdk: str | None = None
    """Neuron SDK in the image, ``2.28``; None: what the image's tag says, if it does."""
    framework: Framework | None = None

"""The agent's configuration file: what the node is, and where things are. Written at boot, read once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from agents.errors import ConfigError
from fleet.compile_cache.graph import LOCAL_FOLDER
from fleet.instances import core_groupings
from fleet.without_job import WITHOUT_JOB_MINUTES

Percent = Annotated[float, msgspec.Meta(gt=0, le=100)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
# Collectors by the names that `fleet-agent status` prints. The switch is for a driver or a file system on which one of
# them hangs; where there is nothing that it could read, a collector has nothing to say anyway.
CAN_BE_OFF: Final = ("EFA", "compile cache", "host", "kernel log", "sysfs", "tools_version", "workload")
# Why the others cannot: the node's state would be wrong without them.
ALWAYS_ON: Final[Mapping[str, str]] = {
    "compilers": "a node that compiles would look like one that hangs",
    "gate": "a node that failed its health gate would look healthy",
    "jobs": "a job would have no name, no owner and no cost",
    "markers": "a node that is to drain would go on, and a checkpoint would look like a hang",
    "neuron_monitor": "neuron-monitor is what the cores are seen with",
    "notices": "a node that AWS takes back would not drain",
    "serving": "a node that its endpoint gave up would look healthy",
}


class PriceConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """USD for one hour of this node; ``as_of`` is the date of the figure and ``source`` where it comes from."""

    usd_per_hour: Annotated[float, msgspec.Meta(gt=0)]
    kind: str
    source: str
    as_of: str


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where newer prices are kept: a DynamoDB table, and the item of this node's type and market."""

    name: Text
    id: Text


class PrometheusConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where ``/metrics`` is served; nowhere without it. The default address is reached from the node itself only."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65535)]
    address: Text = "127.0.0.1"


class GateConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the health gate asks for beyond the instance type's own figures.

    ``efa_interfaces`` is 0 where the fleet does not use EFA; ``driver`` and ``tools`` are the beginnings of versions,
    empty for any.
    """

    efa_interfaces: Annotated[int, msgspec.Meta(ge=0)] = 0
    driver: str = ""
    tools: str = ""


class OtlpConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Series to an OTLP endpoint; none without it.

    ``endpoint`` is a URL with its path; default: CloudWatch's own in the node's region. ``level`` is how much is sent.
    """

    endpoint: Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s/]+/")] | None = None
    level: Literal["rules", "nodes", "cores"] = "cores"


class AgentConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything that the agent is told. Empty ``node`` and ``instance_type`` are found on the node itself.

    ``without_job_minutes`` is for how long the node may have no job. A ``statsd_port`` of 0 and an empty
    ``instance_metadata`` mean that there is none; without a port (None) the Unix socket alone is read. ``prometheus``
    and ``otlp`` are off unless they are given. ``tensor_engine_counters`` adds an estimate from undocumented hardware
    counters to the log event. ``compile_logs`` is a glob of the workloads' log files, in which compile cache hits are
    counted; empty for none. ``collectors_off`` names collectors that are not asked: what they would say is absent.
    """

    environment: Text
    fleet: Text
    owner: str
    region: Text
    purpose: Literal["training", "inference"]
    node: str = ""
    instance_type: str = ""
    dtype: str = "bf16"
    lnc: int | None = None
    target_utilization_percent: Percent = 40.0
    without_job_minutes: Annotated[int, msgspec.Meta(ge=1)] = WITHOUT_JOB_MINUTES
    reports_flops: bool = True
    price: PriceConfig | None = None
    price_table: PriceTable | None = None
    period_seconds: Annotated[int, msgspec.Meta(ge=1, le=60)] = 5
    neuron_monitor: str = "/opt/aws/neuron/bin/neuron-monitor"
    run_directory: str = "/run/neuron-fleet"
    spool_directory: str = "/var/lib/neuron-fleet/spool"
    proc: str = "/proc"
    sysfs: str = "/sys"
    kernel_log: str = "/dev/kmsg"
    tensor_engine_counters: bool = False
    compile_cache: str = LOCAL_FOLDER
    compile_logs: str = ""
    statsd_port: Annotated[int, msgspec.Meta(ge=0, le=65535)] | None = 8125
    instance_metadata: str = "http://169.254.169.254/latest"
    collectors_off: tuple[str, ...] = ()
    log_group: Text
    gate: GateConfig = GateConfig()
    prometheus: PrometheusConfig | None = None
    otlp: OtlpConfig | None = None

    def __post_init__(self) -> None:
        """Refuse a collector that there is not, or without which the node's state would be wrong."""
        for name in self.collectors_off:
            if name in ALWAYS_ON:
                raise ValueError(f"collectors_off: {name!r} cannot be switched off: {ALWAYS_ON[name]}")
            if name not in CAN_BE_OFF:
                raise ValueError(f"collectors_off: there is no collector {name!r}; it can be {', '.join(CAN_BE_OFF)}")


def read(path: Path) -> AgentConfig:
    """The configuration in ``path``.

    Raises:
        ConfigError: the file is missing, is not JSON, or a field is unknown, absent or out of range.
    """
    try:
        config = msgspec.json.decode(path.read_bytes(), type=AgentConfig)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    if config.lnc not in (None, *core_groupings()):
        raise ConfigError(f"{path}: Invalid enum value {config.lnc} - at `$.lnc`")
    return config

"""The metric catalogue: the only place where a metric's name is written.

Namespace, dimension sets and units are an interface: dashboards, alarms and people's queries hold on to them.
Classic CloudWatch metrics exist per fleet and per job only; what a node, device or core did lives in the node's log
event, because per-core metrics would cost more than a hundred times as much.
"""

from dataclasses import dataclass
from typing import Final, Literal

from fleet.string_enum import StringEnum

NAMESPACE: Final = "NeuronFleet"
PERIOD_SECONDS: Final = 60

ENVIRONMENT: Final = "Environment"
FLEET: Final = "Fleet"
JOB_ID: Final = "JobId"
FLEET_DIMENSIONS: Final = (ENVIRONMENT, FLEET)
JOB_DIMENSIONS: Final = (ENVIRONMENT, FLEET, JOB_ID)


class Unit(StringEnum):
    """CloudWatch's unit names."""

    PERCENT = "Percent"
    BYTES = "Bytes"
    COUNT = "Count"
    SECONDS = "Seconds"
    COUNT_PER_SECOND = "Count/Second"
    NONE = "None"


class Kind(StringEnum):
    """The shape of a metric's datum.

    DISTRIBUTION is Values/Counts in whole percents (keeps percentiles), STATISTICS a statistic set, GAUGE one value,
    PER_MINUTE a count over the minute, STATE 0 or 1 per node.
    """

    DISTRIBUTION = "distribution"
    STATISTICS = "statistics"
    GAUGE = "gauge"
    PER_MINUTE = "per-minute"
    STATE = "state"


class Publisher(StringEnum):
    """Who says it: every node's agent of its own node, or the capacity watch of a whole fleet, once a minute."""

    AGENT = "agent"
    CAPACITY_WATCH = "capacity-watch"


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric: its unit, the shape of its datum, and the dimension sets it is published with."""

    name: str
    unit: Unit
    kind: Kind
    per_fleet: bool
    per_job: bool
    meaning: str
    publisher: Publisher = Publisher.AGENT
    from_workload: bool = False
    """Whether the job's own processes say it; where it is per fleet too, a node counts it over its jobs."""
    only_of: Literal["training", "inference"] | None = None
    """The purpose of the only fleets that publish it of the whole fleet; jobs do in any."""

    @property
    def dimension_sets(self) -> tuple[tuple[str, ...], ...]:
        """The exact dimension names, one tuple a set."""
        sets: list[tuple[str, ...]] = []
        if self.per_fleet:
            sets.append(FLEET_DIMENSIONS)
        if self.per_job:
            sets.append(JOB_DIMENSIONS)
        return tuple(sets)


def _both(name: str, unit: Unit, kind: Kind, meaning: str) -> MetricSpec:
    return MetricSpec(name, unit, kind, True, True, meaning)


def _fleet(name: str, unit: Unit, kind: Kind, meaning: str) -> MetricSpec:
    return MetricSpec(name, unit, kind, True, False, meaning)


def _endpoint(name: str, unit: Unit, kind: Kind, meaning: str) -> MetricSpec:
    return MetricSpec(name, unit, kind, True, False, meaning, only_of="inference")


def _capacity(name: str, unit: Unit, kind: Kind, meaning: str) -> MetricSpec:
    return MetricSpec(name, unit, kind, True, False, meaning, Publisher.CAPACITY_WATCH)


def _job(name: str, unit: Unit, kind: Kind, meaning: str) -> MetricSpec:
    return MetricSpec(name, unit, kind, False, True, meaning, from_workload=True)


TENSOR_ENGINE_UTILIZATION: Final = _both(
    "TensorEngineUtilization",
    Unit.PERCENT,
    Kind.DISTRIBUTION,
    "effective FLOP/s over the tensor-engine peak, per core",
)
NEURON_CORE_UTILIZATION: Final = _both(
    "NeuronCoreUtilization",
    Unit.PERCENT,
    Kind.DISTRIBUTION,
    "busy time per allocated core, maximum over runtimes",
)
TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING: Final = _both(
    "TensorEngineUtilizationWhenRunning",
    Unit.PERCENT,
    Kind.DISTRIBUTION,
    "TensorEngineUtilization in state RUNNING only",
)
NEURON_CORE_UTILIZATION_WHEN_RUNNING: Final = _both(
    "NeuronCoreUtilizationWhenRunning",
    Unit.PERCENT,
    Kind.DISTRIBUTION,
    "NeuronCoreUtilization in state RUNNING only",
)
HBM_USED_PERCENT: Final = _both("HbmUsedPercent", Unit.PERCENT, Kind.STATISTICS, "used over device memory, per device")
# A fleet that trains says it by job alone: over a fleet of one type it is no more than the percentage.
HBM_USED_BYTES: Final = MetricSpec(
    "HbmUsedBytes", Unit.BYTES, Kind.STATISTICS, True, True, "used device memory, per device", only_of="inference"
)
ACHIEVED_TFLOPS: Final = _both("AchievedTflops", Unit.NONE, Kind.GAUGE, "effective TFLOP/s of the node")
EXECUTIONS_COMPLETED: Final = _both(
    "ExecutionsCompleted", Unit.COUNT, Kind.PER_MINUTE, "graph executions that ended well"
)
EXECUTION_ERRORS: Final = _both("ExecutionErrors", Unit.COUNT, Kind.PER_MINUTE, "graph executions that failed")
# And this, because the slowest graph of any job says nothing of the others.
EXECUTION_LATENCY_P99: Final = MetricSpec(
    "ExecutionLatencyP99", Unit.SECONDS, Kind.GAUGE, True, True, "device latency, worst runtime", only_of="inference"
)
HARDWARE_ERRORS: Final = _fleet("HardwareErrors", Unit.COUNT, Kind.PER_MINUTE, "hardware errors that ask for an action")
COMPILATION_EVENTS: Final = _fleet("CompilationEvents", Unit.COUNT, Kind.PER_MINUTE, "graphs compiled")
COMPILATION_SECONDS: Final = _fleet("CompilationSeconds", Unit.SECONDS, Kind.PER_MINUTE, "time spent compiling")
COMPILE_CACHE_HITS: Final = _fleet("CompileCacheHits", Unit.COUNT, Kind.PER_MINUTE, "graphs found compiled")
COMPILE_CACHE_MISSES: Final = _fleet("CompileCacheMisses", Unit.COUNT, Kind.PER_MINUTE, "graphs not found compiled")
COMPILE_FAILURES: Final = _fleet("CompileFailures", Unit.COUNT, Kind.PER_MINUTE, "graphs whose compilation failed")
TOKENS_PER_SECOND: Final = _job("TokensPerSecond", Unit.COUNT_PER_SECOND, Kind.GAUGE, "tokens, as the workload reports")
SAMPLES_PER_SECOND: Final = _job(
    "SamplesPerSecond", Unit.COUNT_PER_SECOND, Kind.GAUGE, "samples, as the workload reports"
)
TRAINING_LOSS: Final = _job("TrainingLoss", Unit.NONE, Kind.GAUGE, "loss, as the workload reports")
# Per fleet too: an alarm cannot know the jobs that there will be.
NON_FINITE_LOSS: Final = MetricSpec(
    "NonFiniteLoss", Unit.COUNT, Kind.PER_MINUTE, True, True, "losses that were NaN or infinite",
    from_workload=True, only_of="training",
)  # fmt: skip
REQUESTS_IN_FLIGHT_PER_CORE: Final = _endpoint(
    "RequestsInFlightPerCore", Unit.NONE, Kind.GAUGE, "requests taken and not answered, over the node's serving cores"
)
QUEUE_SECONDS: Final = _endpoint(
    "QueueSeconds", Unit.SECONDS, Kind.GAUGE, "how long the node's requests waited for their batch, mean"
)
COST_USD_PER_HOUR: Final = _both("CostUsdPerHour", Unit.NONE, Kind.GAUGE, "price of the node, an hour")
WASTED_USD_PER_HOUR: Final = _both(
    "WastedUsdPerHour", Unit.NONE, Kind.GAUGE, "part of the price that buys no useful work"
)
CORES_TOTAL: Final = _fleet("CoresTotal", Unit.COUNT, Kind.GAUGE, "logical cores of the node")
CORES_ALLOCATED: Final = _fleet("CoresAllocated", Unit.COUNT, Kind.GAUGE, "logical cores that a runtime holds")
NODES_NO_JOB: Final = _fleet("NodesNoJob", Unit.COUNT, Kind.STATE, "no job and no runtime")
NODES_STARTUP: Final = _fleet(
    "NodesStartup", Unit.COUNT, Kind.STATE, "a job that has not executed yet, also past its grace"
)
NODES_COMPILING: Final = _fleet("NodesCompiling", Unit.COUNT, Kind.STATE, "a job that compiles")
NODES_RUNNING: Final = _fleet("NodesRunning", Unit.COUNT, Kind.STATE, "a job that should be making progress")
NODES_CHECKPOINT: Final = _fleet(
    "NodesCheckpoint", Unit.COUNT, Kind.STATE, "a job in a checkpoint or a phase that it announced"
)
NODES_DRAINING: Final = _fleet("NodesDraining", Unit.COUNT, Kind.STATE, "told to let go of its work")
NODES_FAULT: Final = _fleet("NodesFault", Unit.COUNT, Kind.STATE, "a hardware error with an action")
NODES_BLIND: Final = _fleet("NodesBlind", Unit.COUNT, Kind.STATE, "the monitor is silent")
NODES_HUNG: Final = MetricSpec(
    "NodesHung", Unit.COUNT, Kind.GAUGE, True, False, "1 while a job of the node completes nothing and spins",
    only_of="training",
)  # fmt: skip
NODES_UNUSED: Final = MetricSpec(
    "NodesUnused", Unit.COUNT, Kind.GAUGE, True, False,
    "1 once the node has had no job for longer than its fleet allows", only_of="training",
)  # fmt: skip
NODES_CRASH_LOOPING: Final = MetricSpec(
    "NodesCrashLooping", Unit.COUNT, Kind.GAUGE, True, False,
    "part of the node that jobs hold which start again and again and complete nothing", only_of="training",
)  # fmt: skip
NODES_IDLE: Final = _fleet(
    "NodesIdle", Unit.COUNT, Kind.GAUGE, "part of the node that jobs hold which idle or never begin"
)
LOWEST_JOB_CORE_UTILIZATION: Final = _fleet(
    "LowestJobCoreUtilization", Unit.PERCENT, Kind.GAUGE, "busy time per core of the node's worst running job"
)
LOWEST_JOB_TENSOR_ENGINE_UTILIZATION: Final = _fleet(
    "LowestJobTensorEngineUtilization",
    Unit.PERCENT,
    Kind.GAUGE,
    "tensor engine use of the node's worst executing job, or its mean of 45 minutes",
)
EFA_RECEIVE_BYTES: Final = _fleet("EfaReceiveBytes", Unit.BYTES, Kind.PER_MINUTE, "bytes received over EFA")
EFA_TRANSMIT_BYTES: Final = _fleet("EfaTransmitBytes", Unit.BYTES, Kind.PER_MINUTE, "bytes sent over EFA")
EFA_RETRANSMITS: Final = _fleet("EfaRetransmits", Unit.COUNT, Kind.PER_MINUTE, "retransmitted EFA packets")
EFA_FALLBACK_TO_TCP: Final = _fleet(
    "EfaFallbackToTcp", Unit.COUNT, Kind.PER_MINUTE, "1 when a job of several nodes talks over TCP past EFA"
)
AGENT_HEARTBEAT: Final = _fleet("AgentHeartbeat", Unit.COUNT, Kind.GAUGE, "1 from every agent, every minute")
REPORT_AGE_SECONDS: Final = _fleet("ReportAgeSeconds", Unit.SECONDS, Kind.GAUGE, "age of the last parsable report")
SPOOL_BYTES: Final = _fleet("SpoolBytes", Unit.BYTES, Kind.GAUGE, "batches on disk that AWS has not confirmed")
DROPPED_SAMPLES: Final = _fleet("DroppedSamples", Unit.COUNT, Kind.PER_MINUTE, "batches given up for age or size")
PUBLISH_RETRIES: Final = _fleet("PublishRetries", Unit.COUNT, Kind.PER_MINUTE, "publish calls that were repeated")
AGENT_CPU_PERCENT: Final = _fleet("AgentCpuPercent", Unit.PERCENT, Kind.GAUGE, "CPU of the agent, of one core")
AGENT_RSS_BYTES: Final = _fleet("AgentRssBytes", Unit.BYTES, Kind.GAUGE, "resident memory of the agent")
RESERVED_INSTANCES: Final = _capacity(
    "ReservedInstances", Unit.COUNT, Kind.GAUGE, "instances of the fleet's active reservations, paid for used or not"
)
UNUSED_RESERVED_INSTANCES: Final = _capacity(
    "UnusedReservedInstances", Unit.COUNT, Kind.GAUGE, "reserved instances that nothing runs on"
)
UNUSED_RESERVATION_USD_PER_HOUR: Final = _capacity(
    "UnusedReservationUsdPerHour", Unit.NONE, Kind.GAUGE, "price of the unused reserved instances, an hour"
)
MISSING_NODES: Final = _capacity(
    "MissingNodes", Unit.COUNT, Kind.GAUGE, "nodes that the fleet should be able to have, and cannot get"
)
PRESENT_NODES: Final = _capacity(
    "PresentNodes", Unit.COUNT, Kind.GAUGE, "nodes of the fleet that EC2 shows as pending or running, reserved or not"
)
SILENT_NODES: Final = _capacity(
    "SilentNodes", Unit.COUNT, Kind.GAUGE, "nodes that EC2 has shown for 20 minutes and whose agent says nothing"
)
JOB_CORES_APART: Final = _capacity(
    "JobCoresApart", Unit.PERCENT, Kind.GAUGE, "points that a running core is behind its own job's median, if many"
)
CAPACITY_BLOCK_MINUTES_LEFT: Final = _capacity(
    "CapacityBlockMinutesLeft", Unit.COUNT, Kind.GAUGE, "minutes until the Capacity Block that the fleet uses ends"
)
STALE_PRICE: Final = _capacity(
    "StalePrice", Unit.COUNT, Kind.GAUGE, "1 while the fleet's price is older than its kind allows, or not known"
)
SPOT_INTERRUPTIONS: Final = _capacity(
    "SpotInterruptions", Unit.COUNT, Kind.PER_MINUTE, "nodes that EC2 told it would take back"
)

CATALOGUE: Final[dict[str, MetricSpec]] = {
    spec.name: spec for spec in list(globals().values()) if isinstance(spec, MetricSpec)
}
AGENT_CATALOGUE: Final = {name: spec for name, spec in CATALOGUE.items() if spec.publisher is Publisher.AGENT}

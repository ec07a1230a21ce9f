"""Which parts the agent is made of, from its configuration. The only place that knows them all."""

import queue
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from agents.clock import Clock
from agents.collectors.collector import Collector
from agents.collectors.compile_cache.collector import CompileCacheCollector
from agents.collectors.compilers import CompilerCollector
from agents.collectors.efa.collector import EfaCollector
from agents.collectors.gate import GateCollector
from agents.collectors.host import machine
from agents.collectors.host.collector import HostCollector
from agents.collectors.instance.collector import TIMEOUT_SECONDS, NoticeCollector
from agents.collectors.instance.marking import Marks
from agents.collectors.instance.metadata import InstanceMetadata, instance_id
from agents.collectors.jobs.collector import JobCollector
from agents.collectors.kernel_log.collector import KernelLogCollector
from agents.collectors.markers import MarkerCollector
from agents.collectors.pool import CollectorPool
from agents.collectors.reading.boot_memory import BootMemory, boot_id
from agents.collectors.self_usage import MonitorUsage
from agents.collectors.serving import ServingCollector
from agents.collectors.sysfs.collector import SysfsCollector
from agents.collectors.tools_version import ToolsVersion
from agents.collectors.workload.collector import WorkloadCollector
from agents.config import AgentConfig
from agents.disk.journal import Journal, Unfinished
from agents.disk.lane import Dropped
from agents.disk.minutes import Minutes, SequenceFile
from agents.disk.spool import Spool
from agents.disk.state_file import StateFile
from agents.minute.aggregate import batch_of
from agents.minute.pipeline import Pipeline
from agents.minute.recovery import close_unfinished
from agents.monitor import settings
from agents.monitor.ecc import EccWatch
from agents.monitor.process import MonitorEvent, MonitorProcess
from agents.monitor.supervisor import Startable, Supervisor
from agents.node_agent import NodeAgent
from agents.price import PriceKeeper
from agents.sinks import aws, price_table
from agents.sinks.cloudwatch import CloudWatchSink, EmfLogsSink
from agents.sinks.delivery import BackgroundDelivery, Delivery
from agents.sinks.otlp_sink import OtlpSink
from agents.sinks.series.levels import Level
from agents.sinks.sink import Exporter, Sink
from agents.sinks.spooled_sinks import SpooledSinks
from agents.status.status import StatusFile


def monitor(config: AgentConfig, events: "queue.Queue[MonitorEvent]", *, lockstep: bool = False) -> MonitorProcess:
    """neuron-monitor with a configuration of our own."""
    written = settings.write(Path(config.run_directory), config.period_seconds)
    return MonitorProcess(Path(config.neuron_monitor), written, events, lockstep=lockstep)


def collectors(config: AgentConfig) -> tuple[Collector, ...]:
    """Everything that is looked at besides neuron-monitor, without what is switched off."""
    run_directory, proc = Path(config.run_directory), Path(config.proc)
    spool_directory, boot = Path(config.spool_directory), boot_id(proc)
    every: tuple[Collector, ...] = (
        MarkerCollector(run_directory),
        GateCollector(run_directory, boot, BootMemory(spool_directory / "gate.json", boot)),
        ServingCollector(run_directory / "serving", boot, BootMemory(spool_directory / "serving.json", boot)),
        CompilerCollector(proc),
        CompileCacheCollector(config.compile_cache, proc, config.compile_logs),
        JobCollector(run_directory / "jobs", proc),
        MonitorUsage(),
        ToolsVersion(Path(config.neuron_monitor)),
        SysfsCollector(
            Path(config.sysfs),
            BootMemory(spool_directory / "sysfs.json", boot),
            tensor_engine=config.tensor_engine_counters,
        ),
        EfaCollector(Path(config.sysfs), proc),
        KernelLogCollector(Path(config.kernel_log), BootMemory(spool_directory / "kernel-log.json", boot)),
        HostCollector(proc, machine.read if config.proc == "/proc" else None),
        *workload(config),
        *notices(config),
    )
    return tuple(collector for collector in every if collector.name not in config.collectors_off)


def workload(config: AgentConfig) -> tuple[Collector, ...]:
    """What workloads report, unless it is switched off."""
    # Made, it would have its sockets open already.
    if config.statsd_port == 0 or WorkloadCollector.name in config.collectors_off:
        return ()
    return (WorkloadCollector(config.statsd_port, Path(config.run_directory), Path(config.proc)),)


def notices(config: AgentConfig) -> tuple[Collector, ...]:
    """What AWS announces, where there is instance metadata."""
    if not config.instance_metadata:
        return ()
    metadata = InstanceMetadata(config.instance_metadata, TIMEOUT_SECONDS)
    return (NoticeCollector(metadata, Marks(Path(config.run_directory))),)


def aws_sinks(config: AgentConfig) -> tuple[Sink, ...]:
    """Where batches go unless they are only to be printed."""
    session = aws.Session()
    sinks: tuple[Sink, ...] = (
        CloudWatchSink(config.region, session),
        EmfLogsSink(config.region, config.log_group, session),
    )
    otlp = config.otlp
    return sinks if otlp is None else (*sinks, OtlpSink(config.region, otlp.endpoint, level=Level(otlp.level)))


def exporters(config: AgentConfig) -> tuple[Exporter, ...]:
    """Who shows the last minute on the node itself."""
    if config.prometheus is None:
        return ()
    # Most nodes have none: they do without the package's memory.
    from agents.sinks.prometheus.server import serve  # noqa: PLC0415 - see above

    exporter = serve(config.prometheus)
    return () if exporter is None else (exporter,)


def agent(
    config: AgentConfig, clock: Clock, process: Startable, sinks: Sequence[Sink], *, lockstep: bool = False
) -> NodeAgent:
    """The whole agent, ready to run. In ``lockstep`` a batch is sent before time moves on."""
    node = config.node or instance_id(config.instance_metadata)
    directory, boot = Path(config.spool_directory), boot_id(Path(config.proc))
    spool = Spool(directory, tuple(sink.name for sink in sinks))
    # How long a turn takes is no matter of the node's clock, which may be set meanwhile.
    spooled, shown = SpooledSinks(spool, sinks, clock.now if lockstep else monotonic), exporters(config)
    delivery = (
        Delivery(spooled, clock.now, shown) if lockstep else BackgroundDelivery(spooled, clock.now, shown, node=node)
    )
    journal = Journal(directory / "journal")
    unfinished = journal.read()
    if journal.is_damaged:
        delivery.count(Dropped.DAMAGED)
    if unfinished is not None and unfinished.header.boot_id != boot:
        _publish_of_another_boot(config, node, unfinished, delivery)
    state_file = StateFile(directory / "state.json", boot)
    return NodeAgent(
        pipeline=Pipeline(
            config,
            node,
            clock.now(),
            boot_id=boot,
            known=state_file.load(),
            errors=EccWatch(directory / "ecc.json"),
        ),
        supervisor=Supervisor(process, config.period_seconds, node),
        delivery=delivery,
        collectors=CollectorPool(collectors(config)),
        state_file=state_file,
        status_file=StatusFile(Path(config.run_directory)),
        minutes=minutes(directory, boot, spool.highest_sequence(), journal, unfinished),
        prices=PriceKeeper(config.price, price_table.reader(config), node, inline=lockstep),
    )


def minutes(directory: Path, boot: str, spooled: int, journal: Journal, unfinished: Unfinished | None) -> Minutes:
    """The minutes of this boot; ``spooled`` is the highest number that waits in the spool."""
    left = unfinished.header.seq if unfinished is not None else 0
    sequence = SequenceFile(directory / "sequence", max(spooled, left))
    is_of_this_boot = unfinished is not None and unfinished.header.boot_id == boot
    return Minutes(journal, sequence, boot, unfinished if is_of_this_boot else None)


def _publish_of_another_boot(config: AgentConfig, node: str, unfinished: Unfinished, delivery: Delivery) -> None:
    header = unfinished.header
    directory = Path(config.spool_directory)
    pipeline = Pipeline(
        config,
        node,
        float(header.minute),
        boot_id=header.boot_id,
        known=StateFile(directory / "state.json", header.boot_id).load(),
        errors=EccWatch(directory / "ecc.json"),
    )
    delivery.keep(batch_of(close_unfinished(pipeline, unfinished)))
    pipeline.published()

"""Which parts the agent is made of, from its configuration. The only place that knows them all."""

import queue
from collections.abc import Sequence
from pathlib import Path

from agents.boot import boot_id
from agents.clock import Clock
from agents.collectors.boot_memory import BootMemory
from agents.collectors.collector import Collector
from agents.collectors.compile_cache.collector import CompileCacheCollector
from agents.collectors.compilers import CompilerCollector
from agents.collectors.efa import EfaCollector
from agents.collectors.host import machine
from agents.collectors.host.collector import HostCollector
from agents.collectors.instance_metadata import InstanceMetadata, instance_id
from agents.collectors.jobs import JobCollector
from agents.collectors.kernel_log import KernelLogCollector
from agents.collectors.markers import MarkerCollector
from agents.collectors.notices import TIMEOUT_SECONDS, NoticeCollector
from agents.collectors.pool import CollectorPool
from agents.collectors.self_usage import MonitorUsage
from agents.collectors.sysfs.collector import SysfsCollector
from agents.collectors.tools_version import ToolsVersion
from agents.collectors.workload.collector import WorkloadCollector
from agents.config import AgentConfig
from agents.monitor import settings
from agents.monitor.events import MonitorEvent
from agents.monitor.process import MonitorProcess
from agents.monitor.supervisor import Supervisor
from agents.node_agent import NodeAgent
from agents.pipeline import Pipeline
from agents.sinks.cloudwatch import CloudWatchSink
from agents.sinks.emf_logs import EmfLogsSink
from agents.sinks.otlp.sink import OtlpSink
from agents.sinks.publisher import Publisher
from agents.sinks.sink import Exporter, Sink
from agents.spool import Spool
from agents.state_file import StateFile


def monitor(config: AgentConfig, events: "queue.Queue[MonitorEvent]") -> MonitorProcess:
    """neuron-monitor with a configuration of our own."""
    written = settings.write(Path(config.run_directory), config.period_seconds)
    return MonitorProcess(Path(config.neuron_monitor), written, events)


def collectors(config: AgentConfig) -> tuple[Collector, ...]:
    """Everything that is looked at besides neuron-monitor."""
    run_directory, proc = Path(config.run_directory), Path(config.proc)
    spool_directory, boot = Path(config.spool_directory), boot_id(proc)
    return (
        MarkerCollector(run_directory),
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


def workload(config: AgentConfig) -> tuple[Collector, ...]:
    """What workloads report, unless it is switched off."""
    if not config.statsd_port:
        return ()
    return (WorkloadCollector(config.statsd_port, Path(config.run_directory), Path(config.proc)),)


def notices(config: AgentConfig) -> tuple[Collector, ...]:
    """What AWS announces, where there is instance metadata."""
    if not config.instance_metadata:
        return ()
    return (NoticeCollector(InstanceMetadata(config.instance_metadata, TIMEOUT_SECONDS)),)


def aws_sinks(config: AgentConfig) -> tuple[Sink, ...]:
    """Where batches go unless they are only to be printed."""
    sinks: tuple[Sink, ...] = (CloudWatchSink(config.region), EmfLogsSink(config.region, config.log_group))
    return sinks if config.otlp is None else (*sinks, OtlpSink(config.region, config.otlp.endpoint))


def exporters(config: AgentConfig) -> tuple[Exporter, ...]:
    """Who shows the last minute on the node itself."""
    if config.prometheus is None:
        return ()
    # Most nodes have none: they do without the package's memory.
    from agents.sinks.prometheus.server import serve  # noqa: PLC0415 - see above

    exporter = serve(config.prometheus)
    return () if exporter is None else (exporter,)


def agent(config: AgentConfig, clock: Clock, process: MonitorProcess, sinks: Sequence[Sink]) -> NodeAgent:
    """The whole agent, ready to run."""
    node = config.node or instance_id(config.instance_metadata)
    spool_directory = Path(config.spool_directory)
    spool = Spool(spool_directory, tuple(sink.name for sink in sinks))
    boot = boot_id(Path(config.proc))
    state_file = StateFile(spool_directory / "state.json", boot)
    return NodeAgent(
        pipeline=Pipeline(config, node, clock.now(), boot_id=boot, memory=state_file.load()),
        supervisor=Supervisor(process, config.period_seconds, node),
        publisher=Publisher(spool, sinks, clock.now),
        collectors=CollectorPool(collectors(config)),
        state_file=state_file,
    )

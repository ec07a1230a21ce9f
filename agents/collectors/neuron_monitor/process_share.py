"""What some of a node's processes did, out of a report of all of them.

Cores belong to the processes that hold them. A core or a device that is shared cannot be divided from outside: its
busy time, FLOP/s and memory are said of everybody who holds a part of it.
"""

from collections.abc import Set as AbstractSet
from dataclasses import replace

from agents.collectors.neuron_monitor.executed import total
from agents.collectors.neuron_monitor.node_sample import NodeSample


def of_processes(sample: NodeSample, pids: AbstractSet[int], cores_per_device: int | None) -> NodeSample:
    """``sample`` as if only ``pids`` were looked at; what they have no part in is missing, and not zero."""
    held = {core for core, holders in sample.holders.items() if holders & pids}
    devices = {core // cores_per_device for core in held} if cores_per_device else set()
    work = [sample.work[pid] for pid in pids if pid in sample.work]
    bytes_ = sample.core_bytes
    flops = {core: value for core, value in sample.flops.items() if core in held}
    return replace(
        sample,
        allocated=None if sample.allocated is None else frozenset(held),
        utilization={core: value for core, value in sample.utilization.items() if core in held},
        flops=flops,
        total_flops=sum(flops.values()) if flops and len(flops) == len(held) else None,
        core_bytes=None if bytes_ is None else {core: used for core, used in bytes_.items() if core in held},
        device_bytes={device: used for device, used in (sample.device_bytes or {}).items() if device in devices},
        completed=total([each.completed for each in work]),
        failed=total([each.failed for each in work]),
        errors={},
        latency_p99=max((each.latency_p99 for each in work if each.latency_p99 is not None), default=None),
        runtimes=tuple(runtime for runtime in sample.runtimes if runtime[0] in pids),
        cores_by_pid={pid: count for pid, count in sample.cores_by_pid.items() if pid in pids},
        holders={core: holders & pids for core, holders in sample.holders.items() if holders & pids},
        work={pid: each for pid, each in sample.work.items() if pid in pids},
    )

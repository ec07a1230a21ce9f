"""Hardware errors as sources saw them on this node, and as one list in which each fault of a minute counts once."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fleet.hardware_errors import (
    CORE_UNCORRECTABLE,
    EXECUTION_HARDWARE,
    SRAM_UNCORRECTABLE,
    Action,
    HardwareError,
    stronger,
)
from fleet.string_enum import StringEnum


class Source(StringEnum):
    """Who saw an error."""

    KERNEL_LOG = "kernel-log"
    RUNTIME_STATUS = "runtime-status"
    SYSFS_ECC = "sysfs-ecc"
    MONITOR_ECC = "monitor-ecc"
    EXECUTIONS = "executions"
    HEALTH_GATE = "health-gate"
    SERVING = "serving"


@dataclass(frozen=True, slots=True)
class SeenError:
    """``count`` new errors of one kind; ``device`` is None where the source does not name it.

    ``asked`` is what the source itself asks for, which may be more than what is documented for the kind.
    """

    error: HardwareError
    device: int | None
    count: int
    sources: tuple[Source, ...] = ()
    asked: Action = Action.NONE

    @property
    def action(self) -> Action:
        """What to do: the stronger of the documented action and the asked one."""
        return stronger(self.error.action, self.asked)


def combined(errors: Iterable[SeenError]) -> tuple[SeenError, ...]:
    """The faults of one minute, each once, although several sources may have seen it.

    Of one kind on one device, the source that counted most is right. A source that does not name the device saw the
    same faults as those that do; only what it counted beyond them is left without a device. Executions that failed for
    the hardware say nothing new when any source names a cause. A source that shows a fault a minute after the others
    (the runtime's status counters of older drivers wait for the process to end) counts it once more in that minute.
    """
    seen = [each for each in errors if each.count > 0]
    causes = [each for each in seen if each.error is not EXECUTION_HARDWARE]
    named: dict[HardwareError, dict[int | None, list[SeenError]]] = {}
    for each in _parity_told_apart(causes) or seen:
        named.setdefault(each.error, {}).setdefault(each.device, []).append(each)
    return tuple(fault for devices in named.values() for fault in _faults(devices))


def worst(errors: Iterable[SeenError]) -> str | None:
    """The error with the strongest action, in words; None when none asks for an action."""
    acute = [seen for seen in errors if seen.action is not Action.NONE]
    if not acute:
        return None
    seen = max(acute, key=lambda each: tuple(Action).index(each.action))
    where = "" if seen.device is None else f" on device {seen.device}"
    return f"{seen.error.kind}{where}: {seen.error.meaning}; {seen.action.value}"


def _parity_told_apart(errors: list[SeenError]) -> list[SeenError]:
    # The runtime's code 1202 is a parity error of a core or of its memory: another source may say of which.
    told = {(each.error, each.device) for each in errors if Source.RUNTIME_STATUS not in each.sources}

    def is_sram(each: SeenError) -> bool:
        if each.error is not CORE_UNCORRECTABLE or Source.RUNTIME_STATUS not in each.sources:
            return False
        if any((CORE_UNCORRECTABLE, device) in told for device in (each.device, None)):
            return False
        return any((SRAM_UNCORRECTABLE, device) in told for device in (each.device, None))

    return [replace(each, error=SRAM_UNCORRECTABLE) if is_sram(each) else each for each in errors]


def _faults(devices: dict[int | None, list[SeenError]]) -> Iterable[SeenError]:
    on_device = [_fault(seen) for device, seen in sorted(_known(devices)) if device is not None]
    if None not in devices:
        return on_device
    unplaced = _fault(devices[None])
    if not on_device:
        return [unplaced]
    first = on_device[0]
    asked = stronger(first.asked, unplaced.asked)
    on_device[0] = replace(first, sources=_sorted({*first.sources, *unplaced.sources}), asked=asked)
    beyond = unplaced.count - sum(each.count for each in on_device)
    return [*on_device, replace(unplaced, count=beyond)] if beyond > 0 else on_device


def _known(devices: dict[int | None, list[SeenError]]) -> list[tuple[int, list[SeenError]]]:
    return [(device, seen) for device, seen in devices.items() if device is not None]


def _fault(seen: list[SeenError]) -> SeenError:
    by_source: dict[tuple[Source, ...], int] = {}
    asked = Action.NONE
    for each in seen:
        by_source[each.sources] = by_source.get(each.sources, 0) + each.count
        asked = stronger(asked, each.asked)
    sources = _sorted({source for sources in by_source for source in sources})
    return replace(seen[0], count=max(by_source.values()), sources=sources, asked=asked)


def _sorted(sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(sorted(sources))

"""What can be wrong with neuron-monitor: one word for queries, beside the sentence for people.

In every one of these states but ``working`` and ``starting`` the node becomes BLIND: the metric NodesBlind is 1, the
log event's ``state_reason`` has the sentence, and its ``monitor.status`` has the word.
"""

from enum import StrEnum

from agents.monitor.decode.report import Hardware


class MonitorStatus(StrEnum):
    """Why the cores can or cannot be seen."""

    STARTING = "starting"
    WORKING = "working"
    BINARY_MISSING = "binary-missing"
    NOT_STARTED = "not-started"
    ENDED = "ended"
    STALLED = "stalled"
    UNREADABLE = "unreadable"
    DRIVER_MISSING = "driver-missing"
    NO_DEVICES = "no-devices"


def of_hardware(hardware: Hardware, before: MonitorStatus) -> MonitorStatus:
    """What a readable report says of the node; one that says nothing of the hardware changes nothing about it.

    Without a driver or a device the tool keeps running and reports: ``neuron_hardware_info.error`` is "usually due to
    the Neuron Driver not being installed or not running" (Neuron's user guide of neuron-monitor).
    """
    if hardware.error:
        return MonitorStatus.DRIVER_MISSING
    if hardware.devices == 0:
        return MonitorStatus.NO_DEVICES
    is_known = before in (MonitorStatus.DRIVER_MISSING, MonitorStatus.NO_DEVICES)
    return before if is_known and hardware.devices is None else MonitorStatus.WORKING

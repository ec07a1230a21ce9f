"""The part of a simulated report that says what the node is: its instance and its devices."""

from typing import Any, Final

from fleet.instance_facts import FILE
from fleet.instances import InstanceType
from local.simulation.protocol import Script

_PAIR: Final = 2


class UnknownReportError(ValueError):
    """Nobody has said how neuron-monitor writes of a chip."""


def instance_info(script: Script) -> dict[str, str]:
    """What instance metadata tells the tool."""
    return {
        "instance_name": "",
        "instance_id": script.node,
        "instance_type": script.instance_type,
        "instance_availability_zone": script.availability_zone,
        "instance_availability_zone_id": script.availability_zone_id,
        "instance_region": script.region,
        "ami_id": "ami-0123456789abcdef0",
        "subnet_id": "subnet-0123456789abcdef0",
        "error": "",
    }


def core_version(kind: InstanceType, lnc: int) -> str:
    """As the tool writes it: ``v3d`` for cores of version 3 that are grouped in twos."""
    return f"{kind.accelerator.neuroncore_version}{'d' if lnc == _PAIR else ''}"


def hardware_info(kind: InstanceType, neuroncore_version: str, lnc: int) -> dict[str, Any]:
    """What the driver tells the tool.

    Raises:
        UnknownReportError: the data file does not say what the tool calls the chip.
    """
    monitor = kind.accelerator.monitor
    if monitor is None:
        fact = f"accelerators.{kind.accelerator.model}.monitor"
        raise UnknownReportError(f"{kind.name} cannot be simulated: {FILE} states no {fact}; complete it there")
    return {
        "neuron_device_type": monitor.device_type,
        "neuron_device_version": monitor.device_version,
        "neuroncore_version": neuroncore_version,
        "neuron_device_count": kind.devices,
        "neuron_device_memory_size": kind.accelerator.memory_bytes,
        "neuroncore_per_device_count": kind.logical_cores(lnc) // kind.devices,
        "logical_neuroncore_config": lnc,
        "error": "",
    }

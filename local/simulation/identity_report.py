"""The part of a simulated report that says what the node is: its instance and its devices."""

from typing import Any, Final

from fleet.instances import InstanceType
from local.simulation.protocol import Script

# Type and version as neuron-monitor writes them; the version is not the core's.
_DEVICE_TYPES: Final = {
    "Trainium": ("trainium", "v2"),
    "Inferentia2": ("inferentia2", "v3"),
    "Trainium2": ("trainium2", "v4"),
}


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


def hardware_info(kind: InstanceType, neuroncore_version: str, lnc: int) -> dict[str, Any]:
    """What the driver tells the tool."""
    device_type, device_version = _DEVICE_TYPES[kind.accelerator.model]
    return {
        "neuron_device_type": device_type,
        "neuron_device_version": device_version,
        "neuroncore_version": neuroncore_version,
        "neuron_device_count": kind.devices,
        "neuron_device_memory_size": kind.accelerator.memory_bytes,
        "neuroncore_per_device_count": kind.logical_cores(lnc) // kind.devices,
        "logical_neuroncore_config": lnc,
        "error": "",
    }

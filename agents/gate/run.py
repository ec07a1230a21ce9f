"""The gate itself: what is expected of this node, what is seen, and the verdict that is left behind."""

from pathlib import Path

from agents.collectors.instance.metadata import InstanceMetadata
from agents.collectors.reading.boot_memory import boot_id
from agents.config import AgentConfig
from agents.errors import GateError, MetadataError
from agents.gate import seen, verdict
from agents.gate.checks import Expected, findings
from agents.gate.seen import Places
from agents.gate.verdict import Verdict
from fleet.instances import InstanceType, UnknownInstanceTypeError, instance_type


def judge(config: AgentConfig, outputs: Path, root: Path, now: float) -> Verdict:
    """Look at the node, and leave the verdict in the configuration's run directory.

    Raises:
        GateError: the node's instance type is not known.
        OSError: the verdict cannot be written.
    """
    known = node_type(config)
    expected = Expected(
        instance_type=known.name,
        devices=known.devices,
        device_memory_bytes=known.accelerator.memory_bytes,
        efa_interfaces=config.gate.efa_interfaces,
        driver=config.gate.driver,
        tools=config.gate.tools,
    )
    places = Places(Path(config.sysfs), Path(config.kernel_log), root, outputs)
    found = Verdict(boot_id(Path(config.proc)), now, findings(expected, seen.look(places)))
    verdict.write(Path(config.run_directory), found)
    return found


def ranks(config: AgentConfig) -> int:
    """The node's logical cores: how many ranks a collective over all of it has.

    Raises:
        GateError: the node's instance type is not known.
    """
    known = node_type(config)
    return known.devices * known.accelerator.cores // (config.lnc or known.accelerator.default_lnc)


def node_type(config: AgentConfig) -> InstanceType:
    """As configured; else as the instance's metadata says.

    Raises:
        GateError: neither says it, or it is not in the catalogue.
    """
    try:
        name = config.instance_type or InstanceMetadata(config.instance_metadata).get("instance-type") or ""
        return instance_type(name)
    except (MetadataError, UnknownInstanceTypeError) as error:
        raise GateError(f"the instance type is not known: {error}") from error

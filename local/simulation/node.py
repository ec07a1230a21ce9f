"""One simulated node: the production agent, with the configuration that was deployed for its fleet, in virtual time.

Started by the coordinator as ``python -m local.simulation.node SPEC``, and kept in step by ``lockstep``.
"""

import logging
import os
import sys
import threading
from pathlib import Path

import boto3
import msgspec

import agents.main
from agents.config import AgentConfig
from fleet import naming
from local.simulation.lockstep import Turns
from local.simulation.machine import Machine
from local.simulation.monitor_link import SOCKET_VARIABLE, MonitorDoor
from local.simulation.script import NodeSpec
from local.simulation.virtual_clock import VirtualClock


def main(argument: str) -> None:
    """Run the node that ``argument`` (a NodeSpec in JSON) describes until the coordinator lets go."""
    spec = msgspec.json.decode(argument, type=NodeSpec)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    machine = Machine(Path(spec.root), spec.script, spec.job, spec.part)
    os.environ[SOCKET_VARIABLE] = str(machine.monitor_socket)
    config = deployed_config(spec, machine)
    stop = threading.Event()
    with MonitorDoor(machine.monitor_socket, spec.script) as door:
        clock = VirtualClock(spec.start, door, Turns(stop, door.change).next, machine.show)
        agents.main.run(config, clock, stop, lockstep=True)


def deployed_config(spec: NodeSpec, machine: Machine) -> AgentConfig:
    """The fleet's configuration as a node reads it at boot, with this machine's paths and identity."""
    name = naming.parameter_path(spec.environment, "agents", spec.fleet)
    text = boto3.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
    return msgspec.structs.replace(
        msgspec.json.decode(text, type=AgentConfig),
        node=spec.script.node,
        neuron_monitor=str(machine.neuron_monitor),
        run_directory=str(machine.run_directory),
        spool_directory=str(machine.spool_directory),
        proc=str(machine.proc),
        sysfs=str(machine.sysfs),
        kernel_log=str(machine.kernel_log),
        compile_cache=str(machine.compile_cache),
        # All nodes share one machine and its ports, and OTLP's default endpoint is the real one.
        statsd_port=None,
        instance_metadata="",
        prometheus=None,
        otlp=None,
    )


if __name__ == "__main__":
    main(sys.argv[1])

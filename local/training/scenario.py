"""`fleet local training`: the example job on the embedded AWS, from an empty account to its bill."""

import dataclasses
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3
from rich.console import Console

from environments import loader
from environments.fleet_specs import fleet_spec
from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet import naming
from fleet.prices import price_of
from local.deployment import ENVIRONMENT, DeploymentError, deploy, missing_tools
from local.directory import only_one, prepare
from local.emulator_process import EmulatorProcess, aws_environment, listen, pointed_at
from local.sandbox.boot_data import serving
from local.sandbox.hardware import Hardware
from local.steps import Steps
from local.training import bill, example, fabric
from local.training.node import Node
from local.training.nodes import Nodes
from local.training.run import ENDED, Run, Tell

DIRECTORY: Final = Path(".local/training")
FLEET: Final = "trn1-pretrain"
# The virtual minutes end about now: CloudWatch takes no data from the future.
_MINUTES_BACK: Final = 40
# The node of this number in the order of launches has lost a device.
_FAULTY: Final = 2
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - a folder of random name is made in it
# Seven nodes take about a fifth of it.
_ROOM_BYTES: Final = 1024**3
Submit = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """A deployed environment with data in its buckets, and nothing submitted yet."""

    environment: Environment
    fleet: TrainingFleet
    emulator: EmulatorProcess
    folder: Path
    start: float
    fabric: fabric.Fabric
    nodes: Nodes


@contextmanager
def deployed(directory: Path, console: Console, port: int | None = None) -> Iterator[Stage]:
    """The local environment, in which the third node that is launched lacks a device.

    Raises:
        DeploymentError: the CDK command line is missing or fails.
    """
    if problem := missing_tools():
        raise DeploymentError(problem)
    environment = loader.load(ENVIRONMENT)
    fleet = next(each for each in environment.training_fleets if each.name == FLEET)
    with ExitStack() as stack:
        prepare(directory)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nf-", dir=_memory())))
        emulator = EmulatorProcess(listen(port), directory / "emulator", parent=os.getpid())
        stack.callback(emulator.stop)
        aws = aws_environment(emulator.control.endpoint_url, environment.account, environment.region)
        stack.enter_context(pointed_at(aws))
        start = math.floor(time.time() / 60 - _MINUTES_BACK) * 60.0
        deploy(environment, emulator, directory, Steps(console), start)
        _hold_schedules()
        example.put_data(fleet.nodes)
        addresses = stack.enter_context(serving())
        collectives = stack.enter_context(fabric.serving())
        nodes = Nodes(environment, fleet, emulator.control, addresses, aws, folder, _hardware)
        stack.callback(nodes.close)
        yield Stage(environment, fleet, emulator, folder, start, collectives, nodes)


def _memory() -> str | None:
    """A file system in memory where there is one that programs may be started from: nodes are many small files."""
    try:
        about = os.statvfs(_SHARED_MEMORY)
    except OSError:
        return None
    has_room = about.f_bavail * about.f_frsize >= _ROOM_BYTES
    may_use = os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) and not about.f_flag & os.ST_NOEXEC
    return _SHARED_MEMORY if has_room and may_use else None


def _hold_schedules() -> None:
    """What runs by the clock would run by this machine's, while the run's minutes are virtual."""
    events = boto3.client("events")
    for rule in events.list_rules()["Rules"]:
        if rule.get("ScheduleExpression"):
            events.disable_rule(Name=rule["Name"])


def _hardware(number: int, whole: Hardware) -> Hardware:
    return dataclasses.replace(whole, devices=whole.devices - 1) if number == _FAULTY else whole


def play(stage: Stage, submit: Submit, tell: Tell) -> Run:
    """Submit the example; a node is held back by its gate, one is lost, one is shut down; the job succeeds."""
    submit(example.job_file(stage.folder, stage.environment, stage.fleet))
    run = Run(stage.nodes, stage.fabric, stage.emulator.control, stage.start, _job_id(stage), tell)
    run.minute()
    (held,) = [node for node in stage.nodes.living() if not node.booted.joins]
    tell(run.minute_number, f"an operator replaces {held.instance}")
    stage.nodes.terminate(held, run.now, "an operator has replaced it")
    run.until("RUNNING")
    run.minute()
    run.minute()
    run.lose(run.working()[2])
    run.until("RUNNING")
    run.minute()
    main = run.working()[0]
    run.minute(during=lambda: run.shut_down(main))
    run.until("SUCCEEDED")
    run.settle()
    return run


def _job_id(stage: Stage) -> str:
    parameter = naming.job_place_parameter(stage.environment.name, stage.fleet.name)
    queue = json.loads(boto3.client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"])["queue"]
    (job,) = boto3.client("batch").list_jobs(jobQueue=queue, jobStatus="RUNNABLE")["jobSummaryList"]
    return str(job["jobId"])


def run(submit: Submit, console: Console, port: int | None = None) -> int:
    """Deploy, play, and tell it; 0 when the job has succeeded."""
    with only_one(DIRECTORY.with_name("training.lock")), deployed(DIRECTORY, console, port) as stage:

        def tell(minute: int, text: str) -> None:
            console.print(f"minute {minute:>2}  {text}", highlight=False, markup=False, soft_wrap=True)

        began = time.monotonic()
        played = play(stage, submit, tell)
        status = played.job()["status"]
        _tell_bill(stage, console)
        console.print(f"{played.minute_number} virtual minutes in {time.monotonic() - began:.0f} s", highlight=False)
        return 0 if status == ENDED[0] else 1


def minutes(node: Node) -> int:
    """The minutes that a node was paid for."""
    return round(((node.ended or node.started) - node.started) / 60)


def _tell_bill(stage: Stage, console: Console) -> None:
    spec = fleet_spec(stage.environment, stage.fleet)
    price = price_of(spec)
    for node in stage.nodes.all:
        text = f"{node.instance}: {minutes(node)} minutes, {node.job_minutes} with the job; {node.end}"
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    total = sum(minutes(node) for node in stage.nodes.all)
    console.print(bill.table(bill.lines(stage.environment.name, stage.fleet.name)))
    if price is not None:
        console.print(f"{total} node-minutes x ${price.usd_per_hour}/h = ${total * price.usd_per_hour / 60:.2f}")

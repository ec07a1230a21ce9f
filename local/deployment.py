"""Deploying an environment to the embedded AWS with the real CDK command line."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3

from environments.markets import CapacityBlock
from environments.model import Environment
from environments.paging import Email
from fleet import naming
from local.control import EmulatorControl
from local.emulator_process import EmulatorProcess
from local.processes import stop
from local.steps import Steps

ENVIRONMENT: Final = "local"
_LIMIT_SECONDS: Final = 300.0


class DeploymentError(RuntimeError):
    """A command of the deployment failed; the message holds the end of its output and the file with all of it."""


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """One stack as the embedded AWS holds it."""

    name: str
    status: str
    resources: int


def missing_tools() -> str | None:
    """What to do where the stacks' app, the CDK command line or Node.js is not there; None where they are."""
    if not Path("app.py").is_file() or not Path("cdk.json").is_file():
        return (
            f"{Path.cwd()} is not the project's folder: what is deployed comes from app.py there; go to a clone of the "
            "repository and run this in it"
        )
    if shutil.which("cdk") is None or shutil.which("node") is None:
        return (
            "the CDK command line is not installed: run `make demo`, which installs it from the npm registry; "
            "without a registry, copy node_modules from a machine that has one"
        )
    return None


class CdkApp:
    """The app of this repository for one environment; commands write to log files in ``directory``."""

    def __init__(self, environment: Environment, directory: Path, process_environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._directory = directory
        self._process_environment = process_environment
        self._assembly = directory / "cdk.out"
        self._running: subprocess.Popen[bytes] | None = None

    def synthesize(self) -> None:
        """Write the cloud assembly."""
        # Simulated nodes install nothing, so whatever archive of the agent lies about may be old, or missing; functions
        # run with this machine's packages, where a layer for Lambda's would be of no use.
        self._cdk(
            "synth", "--quiet", "--context", f"env={self._environment.name}", "--context", "agent-archive=none",
            "--context", "duckdb-layer=none", "--output", str(self._assembly),
        )  # fmt: skip

    def bootstrap(self) -> None:
        """Make the bucket and roles that deployments use."""
        target = f"aws://{self._environment.account}/{self._environment.region}"
        self._cdk("bootstrap", target, "--app", str(self._assembly))

    def deploy(self) -> None:
        """Deploy every stack of the assembly."""
        self._cdk(
            "deploy", "**", "--app", str(self._assembly), "--require-approval", "never", "--concurrency", "4",
            "--method", "direct", "--progress", "events",
        )  # fmt: skip

    def abandon(self) -> None:
        """End the command that runs in another thread, if one does."""
        if self._running is not None:
            stop(self._running)

    def _cdk(self, command: str, *arguments: str) -> None:
        log_file = self._directory / f"cdk-{command}.log"
        with log_file.open("wb") as log:
            process = self._running = subprocess.Popen(
                ["cdk", command, *arguments, "--no-notices", "--no-version-reporting"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**self._process_environment},
                start_new_session=True,
            )
        try:
            code = process.wait(_LIMIT_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise DeploymentError(f"cdk {command} did not end within {_LIMIT_SECONDS:.0f} s; see {log_file}") from error
        finally:
            stop(process)
        if code != 0:
            tail = log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            raise DeploymentError("\n".join([f"cdk {command} failed; the end of {log_file}:", *tail]))


def deploy(
    environment: Environment, emulator: EmulatorProcess, directory: Path, steps: Steps, virtual_start: float | None
) -> list[DeployedStack]:
    """Deploy the environment; with ``virtual_start``, alarms stand still at that moment until the clock is moved."""
    app = CdkApp(environment, directory, dict(os.environ))
    with ThreadPoolExecutor(1) as background, steps.step("Start the embedded AWS, synthesize the stacks") as step:
        synthesis = background.submit(app.synthesize)
        try:
            emulator.wait_until_ready()
            if virtual_start is not None:
                emulator.control.set_clock(virtual_start)
            synthesis.result()
        except BaseException:
            # Else the end of the context would wait until the synthesis has ended by itself.
            app.abandon()
            raise
        step.note(emulator.control.endpoint_url)
    with steps.step("Bootstrap the account"):
        app.bootstrap()
        put_secrets(environment, emulator.control)
        put_blocks(environment, emulator.control)
    with steps.step("Deploy") as step:
        app.deploy()
        stacks = deployed_stacks(naming.stack_name(environment.name, ""))
        step.note(f"{len(stacks)} stacks, {sum(stack.resources for stack in stacks)} resources")
    return stacks


def put_secrets(environment: Environment, control: EmulatorControl) -> None:
    """What an account's owner writes by hand: where pages go. Here they go to the inbox."""
    paging = environment.paging
    pagerduty = {"routing_key": "local-routing-key", "events_url": control.inbox_url("pagerduty")}
    _put_secret(paging.pagerduty_secret, json.dumps(pagerduty))
    _put_secret(paging.slack_secret, control.inbox_url("slack"))
    webhook = {"url": control.inbox_url("webhook"), "key": "local-signing-key"}
    contents = {"pagerduty": json.dumps(pagerduty), "slack": control.inbox_url("slack"), "webhook": json.dumps(webhook)}
    for destination in paging.destinations:
        if not isinstance(destination, Email):
            _put_secret(destination.secret, contents[destination.kind])


def put_blocks(environment: Environment, control: EmulatorControl) -> None:
    """The Capacity Blocks that fleets name: a fleet is deployed after its block was bought, so they are there first.

    One without a start in the environment file has just begun.
    """
    for fleet in environment.block_fleets:
        market = fleet.market
        if not isinstance(market, CapacityBlock) or market.reservation_id is None:
            continue
        control.put_reservation(
            environment.region,
            market.reservation_id,
            instance_type=fleet.instance_type,
            availability_zone=fleet.availability_zone,
            total=market.instances or fleet.nodes,
            type="capacity-block",
            end=market.ends_at.isoformat(),
            **({"start": market.starts_at.isoformat()} if market.starts_at else {}),
        )


def deployed_stacks(prefix: str) -> list[DeployedStack]:
    """The stacks whose names start with ``prefix``, with the number of resources of each."""
    cloudformation = boto3.client("cloudformation")
    stacks = cloudformation.describe_stacks()["Stacks"]
    return [
        DeployedStack(
            stack["StackName"],
            stack["StackStatus"],
            len(cloudformation.describe_stack_resources(StackName=stack["StackName"])["StackResources"]),
        )
        for stack in sorted(stacks, key=lambda stack: str(stack["StackName"]))
        if stack["StackName"].startswith(prefix)
    ]


def _put_secret(name: str, value: str) -> None:
    secrets = boto3.client("secretsmanager")
    try:
        secrets.create_secret(Name=name, SecretString=value)
    except secrets.exceptions.ResourceExistsException:
        secrets.put_secret_value(SecretId=name, SecretString=value)

"""`fleet jobs stop`: end a job, at once or after its checkpoint.

To drain, the marker file ``drain`` is written on the job's own nodes: every rank saves and ends. Batch would start the
job again, because it ends with the exit code that asks for that; so it is terminated as soon as this attempt is over.
"""

import time
from typing import Annotated, Final

import typer

from cli.account import Account, AwsError
from cli.answers import print_json, refuse, say
from cli.jobs import pools
from cli.jobs.found import Found, Wanted
from cli.jobs.job_lookup import describe, find, nodes_of
from cli.named import Name, answering
from environments.fleets import pool_settings
from environments.model import Environment

# Where the node agent and the containers look for marker files: docs/checkpoints.md.
_RUN_DIRECTORY: Final = "/run/neuron-fleet"
_MARK: Final = (
    f"mkdir -p {_RUN_DIRECTORY}",
    f"printf '%s\\n' 'the job is stopped' > {_RUN_DIRECTORY}/drain.new",
    f"mv {_RUN_DIRECTORY}/drain.new {_RUN_DIRECTORY}/drain",
)
_UNMARK: Final = (f"rm -f {_RUN_DIRECTORY}/drain",)
# SendCommand takes 50 instances by id, DescribeContainerInstances 100.
_AT_ONCE: Final = 50
_POLL_SECONDS: Final = 10.0
_RUNNING: Final = ("STARTING", "RUNNING")


def stop(
    environment: Name,
    job: Wanted,
    drain: Annotated[bool, typer.Option("--drain", help="Let it save a checkpoint first.")] = False,
    minutes: Annotated[float, typer.Option(min=0.1, max=120, help="With --drain: how long it may take.")] = 15.0,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask back.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON; needs --yes.")] = False,
) -> None:
    """End a job, on all of its nodes. One that waits is taken out of the queue."""
    if json_ and not yes:
        refuse("--json asks nothing back: add --yes")
    with answering(environment) as named:
        account = Account(named.region)
        found = find(account, named, job)
        if found.is_over:
            refuse(f"{found.name} is over: {found.status}")
        if not yes:
            how = (
                f"after its checkpoint, {minutes:g} minutes at most"
                if drain
                else "now; steps since its checkpoint are lost"
            )
            typer.confirm(
                f"Stop {found.name} of {found.job.owner} ({found.status}, {found.job.nodes} nodes) {how}?", abort=True
            )
        if found.pool_job is not None:
            outcome = _end_on_pool(account, named, found)
        else:
            outcome = _end(account, found, minutes * 60 if drain else None)
    if json_:
        print_json({"job_id": found.job_id, "job_name": found.name, "outcome": outcome})
    else:
        say(f"{found.name}: {outcome}")


def _end_on_pool(account: Account, environment: Environment, found: Found) -> str:
    """Its controller sends SIGTERM, at which the checkpoint library saves: with ``--drain`` and without."""
    pools.stop(account, environment, found.fleet.name, found.job_id)
    minutes = pool_settings(found.fleet).drain_minutes
    return f"told to stop: within a minute its containers get SIGTERM, and {minutes} minutes to save"


def _end(account: Account, found: Found, drain_seconds: float | None) -> str:
    if found.is_container:
        _terminate(account, found, "Stopped by `fleet jobs stop`.")
        return "terminated: it saves no checkpoints"
    nodes = [] if drain_seconds is None else _instances(account, found)
    if not nodes or drain_seconds is None:
        _terminate(account, found, "Stopped by `fleet jobs stop`.")
        return "terminated" if drain_seconds is None else "terminated: none of its nodes runs"
    try:
        _tell(account, nodes, _MARK, found)
        outcome = _wait(account, found, drain_seconds)
        _terminate(account, found, "Drained and stopped by `fleet jobs stop`.")
    finally:
        # The nodes take other jobs.
        _tell(account, nodes, _UNMARK, found)
    return outcome


def _wait(account: Account, found: Found, seconds: float) -> str:
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if _is_past(account, found):
            return "drained"
        time.sleep(min(_POLL_SECONDS, left))
    return f"terminated: it did not end within {seconds / 60:g} minutes"


def _terminate(account: Account, found: Found, reason: str) -> None:
    account.batch.terminate_job(jobId=found.job_id, reason=reason)


def _is_past(account: Account, found: Found) -> bool:
    """Whether the attempt that was to save is over: the job ended, or waits for its next one."""
    for detail in describe(account, [found.job_id]):
        return detail["status"] not in _RUNNING or len(detail.get("attempts") or ()) > found.attempts
    return True


def _instances(account: Account, found: Found) -> list[str]:
    """EC2's ids of the nodes that run."""
    running = [each for each in nodes_of(account, found) if each.status in _RUNNING]
    arns = [each.container_instance for each in running if each.container_instance]
    ids: list[str] = []
    for first in range(0, len(arns), _AT_ONCE):
        some = arns[first : first + _AT_ONCE]
        # arn:aws:ecs:REGION:ACCOUNT:container-instance/CLUSTER/ID
        cluster = some[0].split("/")[1]
        answer = account.ecs.describe_container_instances(cluster=cluster, containerInstances=some)
        ids += [str(each["ec2InstanceId"]) for each in answer.get("containerInstances", [])]
    if len(ids) < len(running):
        raise AwsError(f"ECS shows {len(ids)} of {len(running)} nodes of {found.name}: a part of it cannot drain alone")
    return ids


def _tell(account: Account, instances: list[str], commands: tuple[str, ...], found: Found) -> None:
    for first in range(0, len(instances), _AT_ONCE):
        account.ssm.send_command(
            DocumentName="AWS-RunShellScript",
            InstanceIds=instances[first : first + _AT_ONCE],
            Parameters={"commands": list(commands), "executionTimeout": ["60"]},
            TimeoutSeconds=300,
            Comment=f"fleet jobs stop {found.job.name}"[:100],
        )  # fmt: skip

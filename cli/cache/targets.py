"""What an environment's compile cache consists of, and where a fleet's maintenance jobs go."""

import json
from dataclasses import dataclass
from typing import Final

from cli.account import Account, AwsError
from cli.jobs.submission_targets import NotDeployedError
from environments.model import Environment
from fleet import naming

_NO_PARAMETER: Final = ("ParameterNotFound",)


@dataclass(frozen=True, slots=True)
class CompileCache:
    """Names of a table and a bucket, and the ARN of a state machine."""

    table: str
    bucket: str
    machine: str


@dataclass(frozen=True, slots=True)
class MaintenanceTarget:
    """Where a fleet's jobs with the right to write the shared tier go: ARNs, the share of its owner, their tags."""

    queue: str
    definition: str
    share: str
    tags: dict[str, str]


def place_of(account: Account, environment: Environment) -> CompileCache:
    """As the compile cache's stack wrote it down.

    Raises:
        NotDeployedError: it is not deployed.
        AwsError: AWS does not say.
    """
    name = naming.compile_cache_place_parameter(environment.name)
    written = _parameter(account, environment, name, "compile-cache")
    machine = naming.precompile_state_machine(environment.name)
    arn = f"arn:aws:states:{environment.region}:{environment.account}:stateMachine:{machine}"
    try:
        return CompileCache(str(written["table"]), str(written["bucket"]), arn)
    except KeyError as error:
        raise AwsError(f"parameter {name} names no {error.args[0]}: deploy the stack again") from error


def maintenance_target_of(account: Account, environment: Environment, fleet: str) -> MaintenanceTarget:
    """As the precompile stack wrote it down; raises as ``place_of`` does."""
    name = naming.precompile_place_parameter(environment.name, fleet)
    written = _parameter(account, environment, name, "precompile")
    try:
        tags = written["tags"]
        if not isinstance(tags, dict):
            raise AwsError(f"parameter {name} has tags that are none: deploy the stack again")
        return MaintenanceTarget(str(written["queue"]), str(written["definition"]), str(written["share"]), tags)
    except KeyError as error:
        raise AwsError(f"parameter {name} names no {error.args[0]}: deploy the stack again") from error


def _parameter(account: Account, environment: Environment, name: str, stack: str) -> dict[str, object]:
    answer = account.find(_NO_PARAMETER, account.ssm.get_parameter, Name=name)
    if answer is None:
        where = naming.stack_name(environment.name, stack)
        raise NotDeployedError(
            f"there is no parameter {name}: deploy {where} with `cdk deploy -c env={environment.name}`"
        )
    try:
        written = json.loads(answer["Parameter"]["Value"])
    except (KeyError, TypeError, ValueError) as error:
        raise AwsError(f"parameter {name} is not JSON: deploy the stack again") from error
    if not isinstance(written, dict):
        raise AwsError(f"parameter {name} does not hold an object: deploy the stack again")
    return written

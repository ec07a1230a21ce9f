"""What a submission looks up: where the fleet's jobs go, its Capacity Block, and whether the image is there."""

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from cli.account import Account, AwsError
from environments.fleets import TrainingFleet
from environments.markets import CapacityBlock
from environments.model import Environment
from fleet import naming
from fleet.blocks.life import Block
from fleet.jobs.submission import JobQueue

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import CapacityReservationTypeDef, DescribeCapacityReservationsRequestPaginateTypeDef

_ECR: Final = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com/([^:@]+)(?::([^@]+))?(?:@(sha256:\w+))?")
_NO_PARAMETER: Final = ("ParameterNotFound",)
_NO_IMAGE: Final = ("ImageNotFoundException", "RepositoryNotFoundException")
_USABLE: Final = ("active",)
_ALIVE: Final = ["active", "scheduled", "payment-pending", "assessing", "delayed"]


class NotDeployedError(AwsError):
    """The account has no queue for the fleet."""


def place_of(account: Account, environment: Environment, fleet: str) -> JobQueue:
    """The fleet's queue and job definition, as the training stack wrote them down.

    Raises:
        NotDeployedError: it is not deployed.
        AwsError: AWS does not say.
    """
    text = parameter_of(account, environment, fleet)
    try:
        written = json.loads(text)
        return JobQueue(str(written["queue"]), str(written["definition"]), str(written["image"]), int(written["nodes"]))
    except (KeyError, TypeError, ValueError) as error:
        name = naming.job_place_parameter(environment.name, fleet)
        raise AwsError(
            f"parameter {name} does not hold a queue and a job definition: deploy the stack again"
        ) from error


def parameter_of(account: Account, environment: Environment, fleet: str) -> str:
    """What the training stack wrote down of the fleet, as JSON; raises as ``place_of`` does."""
    name = naming.job_place_parameter(environment.name, fleet)
    answer = account.find(_NO_PARAMETER, account.ssm.get_parameter, Name=name)
    if answer is None:
        stack = naming.stack_name(environment.name, "training")
        raise NotDeployedError(
            f"there is no parameter {name}: deploy {stack} with `cdk deploy -c env={environment.name}`"
        )
    return str(answer["Parameter"]["Value"])


def block_of(account: Account, environment: Environment, fleet: TrainingFleet) -> Block | None:
    """The fleet's Capacity Block as EC2 has it now, the one that ends last; None: it is in none.

    Raises:
        AwsError: EC2 does not say, or the fleet has no block that lives.
    """
    market = fleet.market
    if not isinstance(market, CapacityBlock):
        return None
    if market.resource_group is not None:
        return planned_block(fleet)
    if market.reservation_id is not None:
        asked: DescribeCapacityReservationsRequestPaginateTypeDef = {"CapacityReservationIds": [market.reservation_id]}
    else:
        tags = {"project": naming.PROJECT, "environment": environment.name, "fleet": fleet.name}
        asked = {"Filters": [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]}
    found = [
        each
        for page in account.ec2.get_paginator("describe_capacity_reservations").paginate(**asked)
        for each in page.get("CapacityReservations", [])
    ]
    alive = [each for each in found if each.get("State") in _ALIVE and each.get("EndDate")]
    if not alive:
        state = f" ({market.reservation_id} is {found[0].get('State')})" if found and market.reservation_id else ""
        raise AwsError(f"fleet {fleet.name} has no Capacity Block now{state}: `fleet capacity search` lists offers")
    return _block(max(alive, key=lambda each: each["EndDate"]), fleet)


def planned_block(fleet: TrainingFleet) -> Block | None:
    """The fleet's Capacity Block as its file has it, where nobody is asked; None: it is in none."""
    market = fleet.market
    if not isinstance(market, CapacityBlock):
        return None
    start = market.starts_at or datetime.min.replace(tzinfo=UTC)
    name = market.reservation_id or market.resource_group or "a block"
    return Block(name, fleet.name, market.instances or fleet.nodes, start, market.ends_at, is_delivered=False)


def _block(found: "CapacityReservationTypeDef", fleet: TrainingFleet) -> Block:
    start = found.get("StartDate") or found.get("CreateDate") or datetime.min.replace(tzinfo=UTC)
    return Block(
        str(found["CapacityReservationId"]),
        fleet.name,
        int(found.get("TotalInstanceCount", fleet.nodes)),
        start,
        found["EndDate"],
        is_delivered=found["State"] in _USABLE,
    )


def image_exists(account: Account, image: str) -> bool | None:
    """Whether Amazon ECR has it; None: it lies elsewhere, or these credentials may not look."""
    ecr = _ECR.fullmatch(image)
    if ecr is None:
        return None
    registry, region, repository, tag, digest = ecr.groups()
    wanted = {"imageDigest": digest} if digest else {"imageTag": tag or "latest"}
    where = account if region == account.region else Account(region)
    asked = {"registryId": registry, "repositoryName": repository, "imageIds": [wanted]}
    try:
        return where.find(_NO_IMAGE, where.ecr.describe_images, **asked) is not None
    except AwsError:
        return None

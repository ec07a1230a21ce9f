"""The deployed Capacity Block engine and EC2's offers, as the `fleet capacity` commands see them."""

from typing import TYPE_CHECKING, Any, Final, cast

import boto3
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.account import AwsError, explained
from cli.functions import ABSENT, FunctionFailedError, call
from environments.model import Environment
from fleet import naming
from fleet.approval import HEADER, SECONDS, binding
from fleet.blocks import offering
from fleet.blocks.offering import Offering, Search

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import DescribeCapacityBlockOfferingsRequestTypeDef

_READING: Final = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 3})
# The engine may take three minutes; an answer that is lost is looked up with `list`, and not asked for again.
_SECONDS: Final = 190.0
_PAGES: Final = 20


class EngineError(AwsError):
    """AWS or the engine did not do it; one line for the person who asked."""


def search(environment: Environment, wanted: Search) -> tuple[Offering, ...]:
    """What EC2 offers, the cheapest core-hour first.

    Raises:
        AwsError: EC2 does not answer, or refuses.
    """
    found: list[Offering] = []
    request = cast("DescribeCapacityBlockOfferingsRequestTypeDef", wanted.parameters())
    try:
        ec2 = boto3.client("ec2", region_name=environment.region, config=_READING)
        for _ in range(_PAGES):
            page = ec2.describe_capacity_block_offerings(**request)
            found += map(offering.from_ec2, page.get("CapacityBlockOfferings", []))
            if not page.get("NextToken"):
                break
            request["NextToken"] = page["NextToken"]
    except (BotoCoreError, ClientError) as error:
        raise explained(error, "ec2:DescribeCapacityBlockOfferings", environment.region) from error
    return offering.ranked(found)


def ask(environment: Environment, action: str, request_id: str, wish: dict[str, Any] | None = None) -> list[Any]:
    """Give the engine a command, signed by the caller's credentials for this command; the requests of its answer.

    Raises:
        EngineError: it is not deployed, does not answer, or refuses.
    """
    payload = {"action": action, "request_id": request_id, "wish": wish}
    try:
        payload["signed_url"] = signed_url(environment.region, binding(environment.name, action, request_id))
    except (BotoCoreError, ClientError) as error:
        raise EngineError(str(explained(error, "sts:GetCallerIdentity", environment.region))) from error
    return _answer(environment, payload)


def everything(environment: Environment) -> list[Any]:
    """Every request that the engine remembers.

    Raises:
        EngineError: it is not deployed, or does not answer.
    """
    return _answer(environment, {"action": "list"})


def signed_url(region: str, bound_to: str) -> str:
    """GetCallerIdentity, signed for ``bound_to`` and good for a minute: it proves who asks, and lets nobody do more."""

    def bind(request: AWSRequest, **_: object) -> None:
        request.headers[HEADER] = bound_to

    sts = boto3.client("sts", region_name=region, config=_READING)
    sts.meta.events.register("before-sign.sts.GetCallerIdentity", bind)
    return str(sts.generate_presigned_url("get_caller_identity", ExpiresIn=SECONDS, HttpMethod="GET"))


def _answer(environment: Environment, payload: dict[str, Any]) -> list[Any]:
    try:
        content = call(environment, naming.capacity_blocks_function(environment.name), payload, _SECONDS)
    except FunctionFailedError as error:
        raise EngineError(f"the engine failed ({error.code}); its log says why") from error
    except AwsError as error:
        if error.code == ABSENT:
            raise EngineError(
                f"environment {environment.name} has no Capacity Block engine; give a fleet a capacity-block market, "
                "or name approvers, and deploy"
            ) from error
        raise EngineError(str(error)) from error
    if "refused" in content:
        raise EngineError(f"refused: {content['refused']}")
    requests: list[Any] = content["requests"]
    return requests

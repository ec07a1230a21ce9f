"""boto3 clients with short patience: a minute's two calls must be over before the next minute's batch.

Two sinks with at most two attempts of seven seconds each stay below one minute. The endpoint is boto3's own
business (AWS_ENDPOINT_URL).
"""

from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from agents.errors import SinkError, SinkRejectedError

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import EmptyResponseMetadataTypeDef
    from mypy_boto3_logs.type_defs import PutLogEventsResponseTypeDef

CLIENT_CONFIG: Final = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"total_max_attempts": 2, "mode": "standard"},
    # Said here, because a file or a variable on the node could switch it off: a datum is nine tenths repetition.
    disable_request_compression=False,
    request_min_compression_size_bytes=1024,
)
AWS_ERRORS: Final = (BotoCoreError, ClientError)
# The request itself is wrong. Everything else, a refused permission too, may be over the next minute.
_REFUSALS: Final = frozenset(
    {
        "InvalidParameterValue",
        "InvalidParameterCombination",
        "InvalidParameterException",
        "InvalidParameterValueException",
        "MissingParameter",
        "ValidationError",
        "RequestEntityTooLarge",
    }
)


# What sinks of one thread may share: a second one would read botocore's data again, for 8 MB. boto3's default session
# is not for threads.
Session = boto3.session.Session


def code(error: Exception) -> str:
    """AWS's error code; empty for errors on the way there."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def translated(error: Exception) -> SinkError | SinkRejectedError:
    """``error`` as the spooled understands it."""
    return SinkRejectedError(str(error)) if code(error) in _REFUSALS else SinkError(str(error))


def retries(response: "EmptyResponseMetadataTypeDef | PutLogEventsResponseTypeDef") -> int:
    """How often botocore repeated the call."""
    return response.get("ResponseMetadata", {}).get("RetryAttempts", 0)

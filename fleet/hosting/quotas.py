"""The quotas of Service Quotas that count SageMaker's endpoint instances: by type, in one account and region.

Source: public lists of Service Quotas' codes, two of which agree on 24xlarge and 48xlarge, and one of which has the
other two. So whoever asks holds the name in the answer against ``quota_name``, which is Service Quotas' own.
"""

from typing import Final

from fleet.instances import catalogue

SERVICE: Final = "sagemaker"
DURING_A_ROLLOUT: Final = 4
"""Times an endpoint's own instances: both variants, and SageMaker starts new ones for all before it ends the old."""


def quota_code(instance_type: str) -> str | None:
    """The quota's code by EC2's name of the type; None where SageMaker hosts none of these."""
    known = catalogue().get(instance_type)
    return None if known is None else known.sagemaker_hosting_quota


def quota_name(instance_type: str) -> str:
    """What Service Quotas calls the one of an EC2 instance type."""
    return f"ml.{instance_type} for endpoint usage"

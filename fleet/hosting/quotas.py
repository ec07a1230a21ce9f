"""The quotas of Service Quotas that count SageMaker's endpoint instances: by type, in one account and region.

Source: public lists of Service Quotas' codes, two of which agree on 24xlarge and 48xlarge, and one of which has the
other two. So whoever asks holds the name in the answer against ``quota_name``, which is Service Quotas' own.
"""

from typing import Final

SERVICE: Final = "sagemaker"
CODES: Final = {
    "inf2.xlarge": "L-C8AB7CDA",
    "inf2.8xlarge": "L-F761337C",
    "inf2.24xlarge": "L-9C39178F",
    "inf2.48xlarge": "L-286C98BC",
}
"""By EC2's name of the type."""
DURING_A_ROLLOUT: Final = 4
"""Times an endpoint's own instances: both variants, and SageMaker starts new ones for all before it ends the old."""


def quota_name(instance_type: str) -> str:
    """What Service Quotas calls the one of an EC2 instance type."""
    return f"ml.{instance_type} for endpoint usage"

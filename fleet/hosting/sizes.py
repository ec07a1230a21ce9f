"""The instance types on which SageMaker hosts an endpoint on Inferentia2, and the quotas that count them.

Source of the types: SageMaker API, ProductionVariant.InstanceType (botocore 1.43.106, service model of 2017-07-24). It
has ``ml.trn1`` and ``ml.trn2.48xlarge`` as well; endpoints of this platform take inf2 there, of which there are prices:
the types that have a quota of SageMaker's in the data file.

Source of the quotas, which count by type in one account and region: public lists of Service Quotas' codes, two of which
agree on 24xlarge and 48xlarge, and one of which has the other two. So whoever asks holds the name in the answer against
``quota_name``, which is Service Quotas' own.
"""

from typing import Final

from fleet.instances import catalogue


def sizes() -> tuple[str, ...]:
    """EC2's names of the types."""
    return tuple(known.name for known in catalogue().values() if known.sagemaker_hosting_quota is not None)


def hosted_type(instance_type: str) -> str | None:
    """What SageMaker calls an EC2 instance type, ``ml.inf2.xlarge``; None where it hosts none of these."""
    return f"ml.{instance_type}" if instance_type in sizes() else None


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

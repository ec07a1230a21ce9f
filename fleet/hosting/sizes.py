"""The instance types on which SageMaker hosts an endpoint on Inferentia2.

Source: SageMaker API, ProductionVariant.InstanceType (botocore 1.43.106, service model of 2017-07-24). It has
``ml.trn1`` and ``ml.trn2.48xlarge`` as well; endpoints of this platform take inf2 there, of which there are prices.
"""

from typing import Final

SIZES: Final = ("inf2.xlarge", "inf2.8xlarge", "inf2.24xlarge", "inf2.48xlarge")


def hosted_type(instance_type: str) -> str | None:
    """What SageMaker calls an EC2 instance type, ``ml.inf2.xlarge``; None where it hosts none of these."""
    return f"ml.{instance_type}" if instance_type in SIZES else None

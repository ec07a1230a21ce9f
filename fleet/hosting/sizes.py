"""The instance types on which SageMaker hosts an endpoint on Inferentia2.

Source: SageMaker API, ProductionVariant.InstanceType (botocore 1.43.106, service model of 2017-07-24). It has
``ml.trn1`` and ``ml.trn2.48xlarge`` as well; endpoints of this platform take inf2 there, of which there are prices: the
types that have a quota of SageMaker's in the data file.
"""

from fleet.instances import catalogue


def sizes() -> tuple[str, ...]:
    """EC2's names of the types."""
    return tuple(known.name for known in catalogue().values() if known.sagemaker_hosting_quota is not None)


def hosted_type(instance_type: str) -> str | None:
    """What SageMaker calls an EC2 instance type, ``ml.inf2.xlarge``; None where it hosts none of these."""
    return f"ml.{instance_type}" if instance_type in sizes() else None

"""What becomes of data when its stack is deleted."""

from aws_cdk import RemovalPolicy

from environments.model import Environment


def removal_policy(environment: Environment) -> RemovalPolicy:
    """Keep it where the environment's file says so, else delete it with the stack."""
    return RemovalPolicy.RETAIN if environment.retain_data else RemovalPolicy.DESTROY

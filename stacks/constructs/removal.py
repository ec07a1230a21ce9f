"""What becomes of data when its stack is deleted."""

from aws_cdk import RemovalPolicy

from environments.model import Environment


def removal_policy(environment: Environment) -> RemovalPolicy:
    """Keep it where the environment's file says so, else delete it with the stack.

    What a failed first deployment created is deleted in any case: it is empty, and a log group that stayed behind
    would be in the way of the next try, which makes one of the same name.
    """
    return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if environment.retain_data else RemovalPolicy.DESTROY

"""Endpoints that SageMaker hosts, first part: the models that the environment's file declares.

In a stack before the endpoints': those are created with the first version of a parameter here, which stays what it is
however often the file declares another model.
"""

from aws_cdk import CrossStackReferences, ReferenceStrength, Stack
from constructs import Construct

from environments.model import Environment
from fleet import naming
from stacks.constructs.hosted_model import HostedModel
from stacks.constructs.retention import retention_of
from stacks.network import NetworkStack


class HostedModelsStack(Stack):
    """Attribute: ``models``, by fleet name."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment, network: NetworkStack) -> None:
        """Declare the model of every fleet that SageMaker serves."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self.models = {
            fleet.name: HostedModel(
                self,
                fleet.name,
                environment=environment.name,
                fleet=fleet,
                vpc=network.vpc,
                retention=retention_of(environment),
            )
            for fleet in environment.hosted_fleets
        }

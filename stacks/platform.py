"""One environment, composed: which stacks there are and what each is given."""

from typing import Final

import aws_cdk as cdk
from constructs import Construct

from environments.fleet_specs import launch_plans
from environments.model import Environment
from fleet.naming import PROJECT
from fleet.version import VERSION
from stacks.budgets import BudgetsStack
from stacks.capacity import CapacityStack
from stacks.capacity_blocks import CapacityBlocksStack
from stacks.capacity_watch import CapacityWatchStack
from stacks.compile_cache import CompileCacheStack
from stacks.hosted_endpoints import HostedEndpointsStack, HostedModelsStack
from stacks.inference import InferenceStack
from stacks.ledger import LedgerStack
from stacks.network import NetworkStack
from stacks.observability import ObservabilityStack
from stacks.pager import OperationsStack
from stacks.pools import PoolsStack
from stacks.precompile import PrecompileStack
from stacks.prices import PricesStack
from stacks.reservations import reserve
from stacks.rollout import RolloutStack
from stacks.training import TrainingStack

# CloudFormation keeps it with the template; a stack whose resources a version does not touch keeps the one before, for
# the section is never updated alone ("CloudFormation template Metadata syntax", AWS CloudFormation User Guide).
VERSION_METADATA: Final = "NeuronFleet"


class Platform(cdk.Stage):
    """Every stack of one environment, in its account and region."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment) -> None:
        """Compose the stacks of ``environment``."""
        super().__init__(
            scope,
            construct_id,
            env=cdk.Environment(account=environment.account, region=environment.region),
        )
        # The VPC construct asks for the account's zones even when it is given them: this answers in place of a call.
        zones = f"availability-zones:account={environment.account}:region={environment.region}"
        self.node.set_context(zones, list(environment.network.availability_zones))
        for key, value in {"project": PROJECT, "environment": environment.name, "owner": environment.owner}.items():
            cdk.Tags.of(self).add(key, value)
        plans = launch_plans(environment)
        self.network = NetworkStack(self, "network", environment=environment)
        self.compile_cache = CompileCacheStack(self, "compile-cache", environment=environment, network=self.network)
        self.capacity = CapacityStack(
            self,
            "capacity",
            environment=environment,
            plans=plans,
            network=self.network,
            compile_cache=self.compile_cache,
        )
        self.training = TrainingStack(
            self,
            "training",
            environment=environment,
            network=self.network,
            capacity=self.capacity,
            compile_cache=self.compile_cache,
        )
        self.precompile = PrecompileStack(
            self,
            "precompile",
            environment=environment,
            capacity=self.capacity,
            compile_cache=self.compile_cache,
            training=self.training,
        )
        self.inference = InferenceStack(
            self, "inference", environment=environment, network=self.network, capacity=self.capacity
        )
        self.hosted_models = self._hosted(environment)
        self.observability = ObservabilityStack(
            self, "observability", environment=environment, plans=plans, endpoints=self.inference.endpoints
        )
        self.operations = OperationsStack(self, "operations", environment=environment, observability=self.observability)
        self.prices = PricesStack(self, "prices", environment=environment)
        if environment.block_fleets or environment.approvers:
            self.capacity_blocks = CapacityBlocksStack(
                self,
                "capacity-blocks",
                environment=environment,
                capacity=self.capacity,
                training=self.training,
                observability=self.observability,
            )
        if environment.pool_fleets:
            self.pools = PoolsStack(
                self, "pools", environment=environment, training=self.training, observability=self.observability
            )
        self.capacity_watch = CapacityWatchStack(
            self,
            "capacity-watch",
            environment=environment,
            capacity=self.capacity,
            training=self.training,
            inference=self.inference,
        )
        self.ledger = LedgerStack(self, "ledger", environment=environment)
        # Whose log groups it subscribes to, by their names.
        self.ledger.add_stack_dependency(self.observability)
        self.ledger.add_stack_dependency(self.capacity_watch)
        self.rollout = RolloutStack(
            self,
            "rollout",
            environment=environment,
            network=self.network,
            capacity=self.capacity,
            inference=self.inference,
            hosted=self.hosted_models,
        )
        self.budgets = BudgetsStack(
            self,
            "budgets",
            environment=environment,
            observability=self.observability,
            training=self.training,
        )
        # Whose bucket it finds by its parameter.
        self.budgets.add_stack_dependency(self.ledger)
        # Last, so that they are deployed after every stack above.
        self.reservations = reserve(self, environment=environment, capacity=self.capacity)
        for stack in self.node.children:
            # Not a tag: that would change every resource with every version, and replace some.
            if isinstance(stack, cdk.Stack):
                stack.add_metadata(VERSION_METADATA, {"Version": VERSION})

    def _hosted(self, environment: Environment) -> HostedModelsStack | None:
        if not environment.hosted_fleets:
            return None
        models = HostedModelsStack(self, "hosted-models", environment=environment, network=self.network)
        self.hosted_endpoints = HostedEndpointsStack(self, "hosted-endpoints", environment=environment, models=models)
        return models

"""How new versions of endpoints take over: the other side of each, the function that decides, and what drives it."""

import json
from typing import Any, Final, cast

from aws_cdk import (
    Acknowledgment,
    ArnFormat,
    CrossStackReferences,
    Duration,
    ReferenceStrength,
    RemovalPolicy,
    Stack,
    Validations,
)
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import ROLLOUT
from fleet.load_balancer import EndpointNames
from stacks.capacity import CapacityStack
from stacks.constructs.candidate_side import CandidateSide
from stacks.constructs.endpoint_service import EndpointService
from stacks.constructs.endpoint_task import CONTAINER
from stacks.constructs.hosted_rollouts import allow_hosted, hosted_place
from stacks.constructs.python_function import PythonFunction, dead_letter_queue, table_by_id
from stacks.constructs.rollout_machine import LOOK_SECONDS, RolloutMachine
from stacks.constructs.rollout_role import EndpointParts, allow_rollouts
from stacks.constructs.serving import artifact_of
from stacks.constructs.shadow import allow_reports, bucket_name
from stacks.hosted_endpoints import HostedModelsStack
from stacks.inference import InferenceStack
from stacks.network import NetworkStack

FUNCTION: Final = "lambdas.rollout.handler.lambda_handler"
_EMPTY: Final = "it stays when the last endpoint leaves the file, because the command line deletes no stack by itself"
_BROKEN: Final = ["FAILED", "TIMED_OUT", "ABORTED"]


class RolloutStack(Stack):
    """Attributes: ``candidates`` (by fleet), and where there is an endpoint ``function``, ``machine``, ``records``,
    ``unhandled``.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one stack that a rollout stands on
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        network: NetworkStack,
        capacity: CapacityStack,
        inference: InferenceStack,
        hosted: HostedModelsStack | None,
    ) -> None:
        """Give every endpoint of ``inference`` its other side; SageMaker's own, of ``hosted``, has one already."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self.candidates: dict[str, CandidateSide] = {}
        if not (environment.inference_fleets or environment.hosted_fleets):
            Validations.of(self).acknowledge(Acknowledgment(id="CloudFormation-Validate::F0001", reason=_EMPTY))
            return
        # An exported value cannot go away while it is in use: a fleet could never be taken out of the file.
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self._environment, self._inference = environment, inference
        self._hosted = hosted.models if hosted else {}
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, ROLLOUT)
        )
        # It says where requests go and why: without it a rollout under way is one that nobody can end.
        self.records = table_by_id(self, "Records", RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        for fleet in environment.inference_fleets:
            self.candidates[fleet.name] = CandidateSide(
                self,
                fleet.name,
                environment=environment.name,
                fleet=fleet,
                network=network,
                capacity=capacity.fleets[fleet.name],
                balancer=inference.balancers[fleet.name],
                task=inference.tasks[fleet.name],
            )
            self._place(fleet)
        for fleet in environment.hosted_fleets:
            self._write_place(fleet, hosted_place(environment.name, fleet, self._hosted[fleet.name]))
        machine_arn = self.format_arn(
            service="states",
            resource="stateMachine",
            resource_name=naming.rollout_machine(environment.name),
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        self.function = self._function(machine_arn)
        self.machine = RolloutMachine(
            self, "Machine", name=naming.rollout_machine(environment.name), function=self.function.function
        ).machine
        self._tell_of_broken_executions()

    def _function(self, machine_arn: str) -> PythonFunction:
        environment = self._environment
        function = PythonFunction(
            self,
            "Function",
            handler=FUNCTION,
            timeout=Duration.seconds(LOOK_SECONDS),
            dead_letters=self.unhandled,
            environment={
                "ENVIRONMENT": environment.name,
                "TABLE": self.records.table_name,
                "STATE_MACHINE": machine_arn,
                "LOG_LEVEL": "INFO",
            },
        )
        # People call it, so it has a name that they know.
        cast(lambda_.CfnFunction, function.function.node.default_child).function_name = naming.rollout_function(
            environment.name
        )
        self.records.grant(function.role, "dynamodb:GetItem", "dynamodb:PutItem")
        allow_rollouts(
            function.role,
            environment=environment.name,
            machine=machine_arn,
            endpoints=[self._parts(fleet) for fleet in environment.inference_fleets],
        )
        allow_reports(function.role, environment.name, environment.inference_fleets)
        if self._hosted:
            allow_hosted(function.role, environment=environment.name, models=self._hosted)
        return function

    def _parts(self, fleet: InferenceFleet) -> EndpointParts:
        candidate, task = self.candidates[fleet.name], self._inference.tasks[fleet.name]
        services = (self._inference.services[fleet.name], candidate.service)
        roles = (task.definition.task_role, task.definition.obtain_execution_role())
        return EndpointParts(
            fleet=fleet.name,
            scales=fleet.scaling is not None,
            rule=candidate.rule.listener_rule_arn,
            services=tuple(each.service.service_arn for each in services),
            task_roles=tuple(role.role_arn for role in roles),
        )

    def _place(self, fleet: InferenceFleet) -> None:
        environment, inference, candidate = self._environment, self._inference, self.candidates[fleet.name]
        artifact = artifact_of(fleet)
        stable = _side(
            naming.cluster_name(environment.name, fleet.name),
            inference.services[fleet.name],
            inference.balancers[fleet.name].target_group.target_group_arn,
            inference.node_groups[fleet.name],
            inference.balancers[fleet.name].names,
        )
        other = _side(
            naming.candidate_cluster_name(environment.name, fleet.name),
            candidate.service,
            candidate.targets.target_group_arn,
            candidate.nodes.group_name,
            candidate.names,
        )
        place = {
            "environment": environment.name,
            "fleet": fleet.name,
            "nodes": fleet.nodes,
            "rule": candidate.rule.listener_rule_arn,
            "stable": stable,
            "candidate": other,
            "family": naming.endpoint_family(environment.name, fleet.name),
            "container": CONTAINER,
            "version_parameter": naming.served_version_parameter(environment.name, fleet.name),
            "plan": fleet.endpoint.rollout.model_dump(mode="json"),
            "artifact": artifact.prefix if artifact else "",
            "shadow_bucket": bucket_name(self, environment.name) if fleet.endpoint.rollout.shadow else "",
            **({"scales": True} if fleet.scaling else {}),
        }
        self._write_place(fleet, place)

    def _write_place(self, fleet: InferenceFleet, place: dict[str, Any]) -> None:
        ssm.StringParameter(
            self,
            f"{fleet.name}-place",
            parameter_name=naming.rollout_place_parameter(self._environment.name, fleet.name),
            # Not the stack's own JSON, which leaves out what is null: a gate that is turned off would be on again.
            string_value=json.dumps(place, separators=(",", ":")),
        )

    def _tell_of_broken_executions(self) -> None:
        detail = {"status": _BROKEN, "stateMachineArn": [self.machine.attr_arn]}
        pattern = events.EventPattern(
            source=["aws.states"], detail_type=["Step Functions Execution Status Change"], detail=detail
        )
        events.Rule(self, "Broken", event_pattern=pattern, targets=[targets.SqsQueue(self.unhandled)])


def _side(
    cluster: str, service: EndpointService, target_group: str, group: str, names: EndpointNames
) -> dict[str, object]:
    return {
        "cluster": cluster,
        "service": service.service.service_name,
        "target_group": target_group,
        "group": group,
        "names": {"load_balancer": names.load_balancer, "target_group": names.target_group},
    }

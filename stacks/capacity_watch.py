"""Who sees whether each fleet has its capacity: the watch, its clock and events, and what it is told of each fleet."""

from dataclasses import asdict, replace
from typing import Final

from aws_cdk import CrossStackReferences, Duration, ReferenceStrength, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import Fleet, InferenceFleet
from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import CAPACITY_WATCH
from fleet.capacity import LaunchPlan
from fleet.fleet_spec import Engine, MarketKind
from fleet.reserved.observed import FleetDeployment
from stacks.capacity import CapacityStack
from stacks.constructs.capacity_watch_role import allow_watch
from stacks.constructs.price_access import allow_function as allow_prices
from stacks.constructs.python_function import PythonFunction, dead_letter_queue
from stacks.inference import InferenceStack
from stacks.training import TrainingStack

WATCH: Final = "lambdas.capacity_watch.handler.lambda_handler"


class CapacityWatchStack(Stack):
    """Attributes: ``watch``, ``unhandled`` (events that it failed on), ``places`` (by fleet: where it is launched)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        capacity: CapacityStack,
        training: TrainingStack,
        inference: InferenceStack,
    ) -> None:
        """Watch every fleet of ``environment``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        # An exported value cannot go away while it is in use: a fleet could never be taken out of the file.
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self._environment, self._capacity, self._training, self._inference = environment, capacity, training, inference
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, CAPACITY_WATCH)
        )
        # One for each fleet: those of twenty fit neither in a function's variables nor in one parameter, 4 KB each.
        self.places = {fleet.name: self._parameter(fleet) for fleet in environment.node_fleets}
        self.watch = self._function()
        # Without its parameters it would fail at its first tick.
        self.watch.function.node.add_dependency(*self.places.values())
        self._wake()

    def _function(self) -> PythonFunction:
        environment = self._environment
        watch = PythonFunction(
            self,
            "Watch",
            handler=WATCH,
            # Eight fleets at once, and no fleet waits for more than one call that times out, 15 s: twenty take 45 s.
            timeout=Duration.minutes(2),
            dead_letters=self.unhandled,
            # Its events are read there by the pager, and by people.
            log_group_name=naming.capacity_log_group(environment.name),
            environment={
                "ENVIRONMENT": environment.name,
                "FLEETS": self.to_json_string([fleet.name for fleet in environment.node_fleets]),
                "PRICE_TABLE": naming.prices_table(environment.name),
                "LOG_LEVEL": "INFO",
            },
        )
        allow_watch(
            watch.role,
            environment=environment.name,
            plans={name: fleet.plan for name, fleet in self._capacity.fleets.items()},
            compute_environments=[
                self._training.fleets[fleet.name].compute_environment.attr_compute_environment_arn
                for fleet in environment.batch_fleets
                # Capacity Blocks have an engine of their own.
                if fleet.market_kind is MarketKind.RESERVATION
            ],
            parameters=[parameter.parameter_arn for parameter in self.places.values()],
            has_warm_pool=any(of.scaling and of.scaling.kept_stopped for of in environment.inference_fleets),
        )
        allow_prices(watch.role, environment.name)
        return watch

    def _parameter(self, fleet: Fleet) -> ssm.StringParameter:
        place = {key: value for key, value in asdict(self._place(fleet)).items() if value not in (None, False)}
        for moment in ("starts_at", "ends_at"):
            if moment in place:
                place[moment] = place[moment].isoformat()
        return ssm.StringParameter(
            self,
            f"{fleet.name}-place",
            parameter_name=naming.watched_place_parameter(self._environment.name, fleet.name),
            string_value=self.to_json_string(place),
        )

    def _place(self, fleet: Fleet) -> FleetDeployment:
        plan = self._capacity.fleets[fleet.name].plan
        name, environment, reserved = fleet.name, self._environment.name, plan.spec.reserved
        place = FleetDeployment(
            environment=environment,
            fleet=name,
            owner=fleet.owner,
            instance_type=plan.instance_type.name,
            region=plan.spec.region,
            market=plan.market,
            nodes=plan.nodes,
            vcpus=plan.instance_type.vcpus,
            reservation_id=plan.reservation_id,
            resource_group=plan.reservation_group,
            own_group=naming.reservation_group(environment, name) if plan.creates_reservation else None,
            reservation_stack=(
                naming.stack_name(environment, naming.reservation_stack(name)) if plan.creates_reservation else None
            ),
            starts_at=reserved.starts_at,
            ends_at=reserved.ends_at,
            price=plan.spec.price,
            zone=plan.spec.availability_zone,
        )
        return self._launched(place, plan, fleet)

    def _launched(self, place: FleetDeployment, plan: LaunchPlan, fleet: Fleet) -> FleetDeployment:
        """With what launches its nodes."""
        if plan.spec.is_batch:
            batch = self._training.fleets[place.fleet]
            return replace(
                place,
                compute_environment=batch.compute_environment.attr_compute_environment_arn,
                queue=batch.queue.attr_job_queue_arn,
            )
        if plan.spec.engine is Engine.POOL:
            return replace(place, auto_scaling_group=naming.pool_name(place.environment, place.fleet), is_pool=True)
        scaling = fleet.scaling if isinstance(fleet, InferenceFleet) else None
        return replace(
            place,
            auto_scaling_group=self._inference.node_groups[place.fleet],
            scales=scaling is not None,
            has_warm_pool=bool(scaling and scaling.kept_stopped),
        )

    def _wake(self) -> None:
        clock = events.Schedule.rate(Duration.minutes(1))
        target = targets.LambdaFunction(self.watch.function)
        events.Rule(self, "Clock", schedule=clock, targets=[target])
        # Only of the environment's own queues and groups. An interruption names nothing but the instance.
        queues = [
            self._training.fleets[fleet.name].queue.attr_job_queue_arn for fleet in self._environment.batch_fleets
        ]
        pools = [naming.pool_name(self._environment.name, fleet.name) for fleet in self._environment.pool_fleets]
        groups = [*self._inference.node_groups.values(), *pools]
        if queues:
            self._rule("QueueBlocked", target, "aws.batch", "Batch Job Queue Blocked", {"jobQueue": queues})
        if groups:
            failed = "EC2 Instance Launch Unsuccessful"
            self._rule("LaunchFailed", target, "aws.autoscaling", failed, {"AutoScalingGroupName": groups})
        if any(fleet.market_kind is MarketKind.SPOT for fleet in self._environment.node_fleets):
            self._rule("Interrupted", target, "aws.ec2", "EC2 Spot Instance Interruption Warning", None)

    def _rule(
        self, construct_id: str, target: events.IRuleTarget, source: str, kind: str, detail: dict[str, object] | None
    ) -> None:
        pattern = events.EventPattern(source=[source], detail_type=[kind], detail=detail)
        events.Rule(self, construct_id, event_pattern=pattern, targets=[target])

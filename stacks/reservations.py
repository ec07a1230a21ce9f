"""The reservations of one environment, each in a stack of its own that is deployed last and that nothing waits for.

There is no capacity more often than there is: a reservation that cannot be had rolls back itself, and nothing else.
"""

from collections.abc import Sequence
from datetime import UTC

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from environments.model import Environment
from fleet import naming
from stacks.capacity import CapacityStack
from stacks.constructs.fleet_capacity import FleetCapacity


class ReservationStack(Stack):
    """One fleet's on-demand capacity reservation. Attribute: ``reservation``.

    The capacity watch finds it by its tags and puts it into the fleet's group.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        capacity: FleetCapacity,
    ) -> None:
        """Reserve the fleet's instances, inside its placement group if one is made for it."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment, construct_id))
        plan = capacity.plan
        ends = plan.spec.reserved.ends_at
        # An L1: there is no L2 for capacity reservations. Count and end change in place; another type, zone or
        # placement group makes a second reservation first and cancels this one after it (CloudFormation's registry:
        # createOnlyProperties), so nothing is lost where there is no capacity for the second.
        self.reservation = ec2.CfnCapacityReservation(
            self,
            "Reservation",
            instance_type=plan.instance_type.name,
            instance_platform="Linux/UNIX",
            instance_count=plan.reserved_instances,
            availability_zone=plan.spec.availability_zone,
            # Open reservations are filled by any matching instance of the account; this one is the fleet's own.
            instance_match_criteria="targeted",
            end_date_type="limited" if ends else "unlimited",
            end_date=f"{ends.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if ends else None,
            placement_group_arn=self._arn(capacity.placement_group) if capacity.placement_group else None,
            tag_specifications=[
                ec2.CfnCapacityReservation.TagSpecificationProperty(
                    resource_type="capacity-reservation",
                    tags=[
                        {"key": "project", "value": naming.PROJECT},
                        {"key": "environment", "value": environment},
                        {"key": "fleet", "value": plan.spec.name},
                    ],
                )
            ],
        )

    def _arn(self, group: ec2.PlacementGroup) -> str:
        return self.format_arn(service="ec2", resource="placement-group", resource_name=group.placement_group_name)


def reserve(scope: Construct, *, environment: Environment, capacity: CapacityStack) -> dict[str, ReservationStack]:
    """A stack for each fleet whose reservation is made here, by the fleet's name; all others of ``scope`` come first.

    They wait for each other in nothing, so a deploy with room for all of them (``--concurrency``) tries each of them
    whichever fails. That they come last also means that nothing is paid for before there is something to use it.
    """
    others: Sequence[Stack] = [child for child in scope.node.children if isinstance(child, Stack)]
    reserved: dict[str, ReservationStack] = {}
    for fleet in environment.training_fleets:
        if not capacity.fleets[fleet.name].plan.creates_reservation:
            continue
        stack = ReservationStack(
            scope,
            naming.reservation_stack(fleet.name),
            environment=environment.name,
            capacity=capacity.fleets[fleet.name],
        )
        for other in others:
            stack.add_stack_dependency(other)
        reserved[fleet.name] = stack
    return reserved

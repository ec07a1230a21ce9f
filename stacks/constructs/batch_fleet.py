"""The nodes of one training fleet as an AWS Batch compute environment, and the queue in front of it."""

from typing import Final

from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from environments.fleets import TrainingFleet
from fleet import naming
from fleet.naming import PROJECT
from stacks.constructs.fleet_capacity import FleetCapacity, node_image

# What an owner used longer ago than a day weighs less and less.
SHARE_MEMORY_SECONDS: Final = 24 * 3600


class BatchFleet(Construct):
    """Attributes: ``compute_environment`` and ``queue``. Batch adds nodes while jobs wait.

    L1s: the L2 always sets SecurityGroupIds, which EC2 refuses beside the launch template's network interfaces.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, fleet: TrainingFleet, capacity: FleetCapacity, subnet: ec2.ISubnet
    ) -> None:
        """Offer the fleet's nodes, in its one subnet, to its own queue."""
        super().__init__(scope, construct_id)
        self.compute_environment = batch.CfnComputeEnvironment(
            self,
            "Nodes",
            type="MANAGED",
            # Update in place: a replaced environment leaves its queue pointing at nothing.
            replace_compute_environment=False,
            # A new image or template lets running jobs go on for as long as Batch can be told to, six hours; longer
            # runs resume from their checkpoint, or the deployment waits for them.
            update_policy=batch.CfnComputeEnvironment.UpdatePolicyProperty(
                terminate_jobs_on_update=False, job_execution_timeout_minutes=360
            ),
            compute_resources=batch.CfnComputeEnvironment.ComputeResourcesProperty(
                type="EC2",
                # BEST_FIT cannot be updated in place.
                allocation_strategy="BEST_FIT_PROGRESSIVE",
                # A deploy asks for no node, so that it needs no capacity. Where capacity is paid for anyway, whoever
                # looks after it (the capacity watch, the engine for Capacity Blocks) raises this to the fleet's
                # minimum; a deploy that changes the environment puts it back to 0, and the next look, within a
                # minute, raises it again.
                minv_cpus=0,
                maxv_cpus=capacity.plan.max_vcpus,
                instance_types=[capacity.plan.instance_type.name],
                instance_role=capacity.instance_profile.instance_profile_arn,
                subnets=[subnet.subnet_id],
                placement_group=capacity.placement_group_name,
                launch_template=batch.CfnComputeEnvironment.LaunchTemplateSpecificationProperty(
                    launch_template_id=capacity.launch_template.attr_launch_template_id,
                    version=capacity.launch_template.attr_latest_version_number,
                ),
                # Batch knows no Neuron image type; without this it would choose its plain image over the template's.
                ec2_configuration=[
                    batch.CfnComputeEnvironment.Ec2ConfigurationObjectProperty(
                        image_type="ECS_AL2023", image_id_override=node_image(self, fleet)
                    )
                ],
                tags={
                    "project": PROJECT,
                    "fleet": fleet.name,
                    "owner": fleet.owner,
                    "launch-template": capacity.launch_digest,
                },
            ),
        )
        self.queue = batch.CfnJobQueue(
            self,
            "Queue",
            priority=1,
            scheduling_policy_arn=self._shares(fleet).attr_arn,
            compute_environment_order=[
                batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
                    order=1, compute_environment=self.compute_environment.attr_compute_environment_arn
                )
            ],
        )

    def _shares(self, fleet: TrainingFleet) -> batch.CfnSchedulingPolicy:
        """Owners that wait get the fleet in turn, by what each has used; without it the first to submit gets all."""
        return batch.CfnSchedulingPolicy(
            self,
            "Shares",
            fairshare_policy=batch.CfnSchedulingPolicy.FairsharePolicyProperty(
                share_decay_seconds=SHARE_MEMORY_SECONDS,
                # Nothing is kept free for owners that have no job: what is free is idle, and is paid for.
                compute_reservation=0,
                share_distribution=[
                    batch.CfnSchedulingPolicy.ShareAttributesProperty(
                        share_identifier=naming.share_identifier(owner),
                        # Batch divides what was used by the factor: a smaller one gets more.
                        weight_factor=round(1 / share, 4),
                    )
                    for owner, share in sorted(fleet.shares.items())
                ],
            ),
        )

"""What SageMaker may do for a hosted model: pull its image, write its log, reach the VPC, read its compiled graphs."""

from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.fleets import InferenceFleet
from stacks.constructs.rights import allow_pull
from stacks.constructs.serving import allow_artifact

_DESCRIBES: Final = "a registry token and descriptions of the network have no resource level"
_INTERFACES: Final = "SageMaker's network interfaces get their ids when they are made; subnets and group are named"
_STREAMS: Final = "streams are named by SageMaker; the log group is the endpoint's own"


class HostedRole(iam.Role):
    """The execution role of one endpoint's models.

    Source: SageMaker developer guide, "Amazon SageMaker AI Roles", execution role permissions of CreateModel, with a
    VPC; without what is not needed here, such as to make log groups or to read the account's buckets.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one part of what a model reaches
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: InferenceFleet,
        log_group: logs.ILogGroup,
        subnets: list[ec2.ISubnet],
        group: ec2.ISecurityGroup,
    ) -> None:
        """Allow what a model of ``fleet`` needs."""
        super().__init__(scope, construct_id, assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        allow_pull(self, fleet.endpoint.container_image)
        stack = Stack.of(self)
        self._may(["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"], [log_group.log_group_arn])
        interfaces = _of_ec2(stack, "network-interface", "*")
        within = [_of_ec2(stack, "subnet", subnet.subnet_id) for subnet in subnets]
        within.append(_of_ec2(stack, "security-group", group.security_group_id))
        self._may(["ec2:CreateNetworkInterface"], [interfaces, *within])
        self._may(
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            [interfaces],
        )
        self._may(
            [
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            ["*"],
        )
        allow_artifact(self, environment, fleet)
        for resource, reason in (("*", _DESCRIBES), (interfaces, _INTERFACES)):
            Validations.of(self).acknowledge(
                Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason)
            )

    def _may(self, actions: list[str], resources: list[str]) -> None:
        self.add_to_policy(iam.PolicyStatement(actions=actions, resources=resources))


def _of_ec2(stack: Stack, kind: str, name: str) -> str:
    return stack.format_arn(service="ec2", resource=kind, resource_name=name, arn_format=ArnFormat.SLASH_RESOURCE_NAME)

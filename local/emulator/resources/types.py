"""The resource types that ministack lacks and that a template of this platform may hold."""

from typing import Final

SCHEMA_BACKED_TYPES: Final = (
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::AutoScaling::WarmPool",
    "AWS::Batch::ComputeEnvironment",
    "AWS::Batch::JobDefinition",
    "AWS::Batch::JobQueue",
    "AWS::Batch::SchedulingPolicy",
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::AlarmMuteRule",
    "AWS::EC2::CapacityReservation",
    "AWS::EC2::CapacityReservationFleet",
    "AWS::EC2::EIP",
    "AWS::EC2::FlowLog",
    "AWS::EC2::NatGateway",
    "AWS::EC2::NetworkAcl",
    "AWS::EC2::NetworkAclEntry",
    "AWS::EC2::NetworkInterface",
    "AWS::EC2::PlacementGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SubnetNetworkAclAssociation",
    "AWS::ECS::CapacityProvider",
    "AWS::ECS::ClusterCapacityProviderAssociations",
    "AWS::Logs::QueryDefinition",
    "AWS::ResourceGroups::Group",
    "AWS::SNS::TopicInlinePolicy",
    "AWS::SSM::Association",
    "AWS::SSM::Document",
)

# Attributes of Fn::GetAtt that ministack's own handlers leave out, and that are properties of the same name.
ECHOED_ATTRIBUTES: Final = {
    "AWS::EC2::VPC": ("CidrBlock",),
}

"""The VPC that nodes live in: private subnets, the endpoints they need, flow logs, and the security groups."""

from collections.abc import Collection
from typing import Final

from aws_cdk import CrossStackReferences, ReferenceStrength, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.model import Environment
from environments.network import PUBLIC_MASK
from fleet import naming
from stacks.constructs.retention import retention_of

# What a node talks to while it runs: Session Manager, metrics and logs, images, the scheduler, credentials.
INTERFACE_ENDPOINTS: Final = {
    "Ssm": ec2.InterfaceVpcEndpointAwsService.SSM,
    "SsmMessages": ec2.InterfaceVpcEndpointAwsService.SSM_MESSAGES,
    "Ec2Messages": ec2.InterfaceVpcEndpointAwsService.EC2_MESSAGES,
    "Logs": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    "Monitoring": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING,
    "EcrApi": ec2.InterfaceVpcEndpointAwsService.ECR,
    "EcrDocker": ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER,
    "Ecs": ec2.InterfaceVpcEndpointAwsService.ECS,
    "EcsAgent": ec2.InterfaceVpcEndpointAwsService.ECS_AGENT,
    "EcsTelemetry": ec2.InterfaceVpcEndpointAwsService.ECS_TELEMETRY,
    "Sts": ec2.InterfaceVpcEndpointAwsService.STS,
}
GATEWAY_ENDPOINTS: Final = {
    "S3": ec2.GatewayVpcEndpointAwsService.S3,
    "DynamoDb": ec2.GatewayVpcEndpointAwsService.DYNAMODB,
}


class NetworkStack(Stack):
    """Attributes: ``vpc``, ``node_security_group`` (every node), ``efa_security_group`` (nodes with peers)."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment) -> None:
        """Build the network of one environment, in the zones that its file names."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self._zone_ids = environment.network.availability_zones
        zones = list(self._zone_ids)
        # Vpc checks its zones against the account's, and would have the command line ask AWS for them.
        self.node.set_context(f"availability-zones:account={self.account}:region={self.region}", zones)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            availability_zones=zones,
            ip_addresses=ec2.IpAddresses.cidr(str(environment.network.cidr)),
            nat_gateways=environment.network.nat_gateways,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=PUBLIC_MASK,
                    map_public_ip_on_launch=False,
                ),
                ec2.SubnetConfiguration(name="Nodes", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
            ],
        )
        for subnet in self.vpc.public_subnets:
            # Public load balancers lie in them: as exports, they would keep the last of those in the file for ever.
            CrossStackReferences.of(subnet).produce(ReferenceStrength.WEAK)
        self._record_flows(environment)
        self.node_security_group = ec2.SecurityGroup(
            self, "NodeGroup", vpc=self.vpc, description="Every node: reaches out, is reached by nobody"
        )
        self.efa_security_group = self._efa_group()
        self._add_endpoints(environment)

    def private_subnet(self, availability_zone: str) -> ec2.ISubnet:
        """The node subnet of one zone, by the zone's name in the account."""
        return next(subnet for subnet in self.vpc.private_subnets if subnet.availability_zone == availability_zone)

    def private_subnets(self, zone_ids: Collection[str]) -> list[ec2.ISubnet]:
        """The node subnets of some zones, by the zones' ids."""
        return [subnet for subnet in self.vpc.private_subnets if self._zone_ids[subnet.availability_zone] in zone_ids]

    def _record_flows(self, environment: Environment) -> None:
        log_group = logs.LogGroup(
            self,
            "FlowLogs",
            retention=retention_of(environment).log_days,
            removal_policy=retention_of(environment).removal_policy,
        )
        self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(log_group),
            max_aggregation_interval=ec2.FlowLogMaxAggregationInterval.TEN_MINUTES,
        )

    def _efa_group(self) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self, "EfaGroup", vpc=self.vpc, description="Nodes that talk over EFA: all traffic to and from each other"
        )
        # An export ends with its last importer, and cannot be taken away before that has let go of it: the last fleet
        # whose nodes have peers could not leave.
        CrossStackReferences.of(group).produce(ReferenceStrength.WEAK)
        group.add_ingress_rule(group, ec2.Port.all_traffic(), "EFA between members")
        # EFA traffic has no IP addresses, so egress to 0.0.0.0/0 does not cover it: the group must allow itself. The
        # L2 drops that rule, with a warning, on a group that allows all outbound traffic; hence the L1.
        ec2.CfnSecurityGroupEgress(
            self,
            "EfaSelfEgress",
            group_id=group.security_group_id,
            destination_security_group_id=group.security_group_id,
            ip_protocol="-1",
            description="EFA between members",
        )
        return group

    def _add_endpoints(self, environment: Environment) -> None:
        for name, gateway in GATEWAY_ENDPOINTS.items():
            self.vpc.add_gateway_endpoint(name, service=gateway)
        group = ec2.SecurityGroup(
            self,
            "EndpointGroup",
            vpc=self.vpc,
            allow_all_outbound=False,
            description="AWS service endpoints: reached from within the VPC over TLS",
        )
        group.add_ingress_rule(ec2.Peer.ipv4(str(environment.network.cidr)), ec2.Port.tcp(443), "TLS from the VPC")
        for name, service in INTERFACE_ENDPOINTS.items():
            self.vpc.add_interface_endpoint(
                name,
                service=service,
                security_groups=[group],
                open=False,
                subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
            )

"""The load balancer of one endpoint, and the bucket where its access logs go."""

from ipaddress import IPv4Network
from typing import Final

from aws_cdk import Acknowledgment, CrossStackReferences, Duration, ReferenceStrength, RemovalPolicy, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from environments.clients import Clients
from environments.fleets import InferenceFleet
from fleet.load_balancer import EndpointNames

_PUBLIC: Final = ec2.SubnetType.PUBLIC
_PRIVATE: Final = ec2.SubnetType.PRIVATE_WITH_EGRESS


class AccessLogs(s3.Bucket):
    """One bucket for the access logs of all endpoints."""

    def __init__(self, scope: Construct, construct_id: str, *, removal_policy: RemovalPolicy) -> None:
        """Keep the logs for three months."""
        super().__init__(
            scope,
            construct_id,
            # Load balancers deliver to buckets with S3's own keys only.
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(90))],
            removal_policy=removal_policy,
        )
        Validations.of(self).acknowledge(
            Acknowledgment(id="AwsSolutions-S1", reason="it holds access logs itself; logging them would never end")
        )


class EndpointBalancer(Construct):
    """Attributes: ``target_group``, ``listener``, ``security_group``, ``names`` (what CloudWatch calls them).

    Reached from the VPC and the networks that the endpoint names; a public one from those alone. TLS with the
    endpoint's certificate; plain HTTP where the environment allows it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        fleet: InferenceFleet,
        vpc: ec2.IVpc,
        vpc_cidr: IPv4Network,
        access_logs: s3.IBucket,
    ) -> None:
        """Create the load balancer of ``fleet``'s endpoint, in the private subnets of ``vpc`` unless it is public."""
        super().__init__(scope, construct_id)
        clients = fleet.endpoint.clients
        # Of the other kind it is another one, and a target group belongs to one load balancer: with the same ids,
        # CloudFormation would give the new one the targets of the old, and be refused.
        parts = Construct(self, "Public") if clients.public else self
        described = f"Endpoint: reached from {'named networks' if clients.public else 'within the VPC'}"
        self.security_group = ec2.SecurityGroup(
            parts, "Group", vpc=vpc, allow_all_outbound=False, description=described
        )
        balancer = elb.ApplicationLoadBalancer(
            parts,
            "Balancer",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnet_type=_PUBLIC if clients.public else _PRIVATE),
            internet_facing=clients.public,
            security_group=self.security_group,
            drop_invalid_header_fields=True,
            # A long answer streams for minutes.
            idle_timeout=Duration.minutes(5),
        )
        balancer.log_access_logs(access_logs, prefix=fleet.name)
        self.target_group = endpoint_targets(parts, fleet, vpc)
        self.listener = self._listener(balancer, fleet.endpoint.certificate_arn)
        self._let_in(clients, vpc_cidr)
        for part in (balancer, self.target_group):
            # Alarms and dashboards name them: as exports, they would keep the endpoint in the file for ever.
            CrossStackReferences.of(part).produce(ReferenceStrength.WEAK)
        self.names = EndpointNames(
            load_balancer=balancer.load_balancer_full_name, target_group=self.target_group.target_group_full_name
        )

    def _let_in(self, clients: Clients, vpc: IPv4Network) -> None:
        for network in clients.let_in(vpc):
            whose = "the VPC" if network == vpc else str(network)
            self.security_group.add_ingress_rule(
                ec2.Peer.ipv4(str(network)), ec2.Port.tcp(self.listener.port), f"Clients in {whose}"
            )

    def _listener(self, balancer: elb.ApplicationLoadBalancer, certificate_arn: str | None) -> elb.ApplicationListener:
        if certificate_arn is None:
            return balancer.add_listener(
                "Http",
                port=80,
                protocol=elb.ApplicationProtocol.HTTP,
                open=False,
                default_target_groups=[self.target_group],
            )
        return balancer.add_listener(
            "Https",
            port=443,
            protocol=elb.ApplicationProtocol.HTTPS,
            open=False,
            certificates=[elb.ListenerCertificate.from_arn(certificate_arn)],
            ssl_policy=elb.SslPolicy.RECOMMENDED_TLS,
            default_target_groups=[self.target_group],
        )


def endpoint_targets(scope: Construct, fleet: InferenceFleet, vpc: ec2.IVpc) -> elb.ApplicationTargetGroup:
    """The tasks of one side of ``fleet``'s endpoint, as a load balancer sees them."""
    return elb.ApplicationTargetGroup(
        scope,
        "Targets",
        vpc=vpc,
        target_type=elb.TargetType.IP,
        protocol=elb.ApplicationProtocol.HTTP,
        port=fleet.endpoint.port,
        # Requests differ a hundredfold in length, so taking turns would pile them up on one task.
        load_balancing_algorithm_type=elb.TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
        deregistration_delay=Duration.seconds(120),
        health_check=elb.HealthCheck(
            path=fleet.endpoint.health_path,
            interval=Duration.seconds(15),
            timeout=Duration.seconds(5),
            healthy_threshold_count=2,
            unhealthy_threshold_count=3,
        ),
    )

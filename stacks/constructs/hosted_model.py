"""The model that an environment's file declares for an endpoint that SageMaker hosts, and what it stands on."""

import re
from typing import Any, Final

from aws_cdk import Annotations, CrossStackReferences, ReferenceStrength, RemovalPolicy, Stack, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import InferenceFleet
from environments.hosted_rules import PORT, price_difference_text
from fleet import naming
from fleet.hosting.sizes import hosted_type
from stacks.constructs.hosted_role import HostedRole
from stacks.constructs.retention import Retention
from stacks.constructs.serving import artifact_of, serving_environment

# A Neuron image is 15 to 20 GB, twice that unpacked, and a model of 13 billion parameters 26 GB.
VOLUME_GIB: Final = 200
# SageMaker API, ProductionVariant: the longest that a container may take to its first good ping.
LONGEST_START_SECONDS: Final = 3600
_TAG_BEFORE_DIGEST: Final = re.compile(r":[\w.-]+(?=@sha256:)")


class HostedModel(Construct):
    """Attributes: ``request`` (what CreateModel is asked for), ``variant`` (what every variant is configured with),
    ``role``, ``key``, ``declared`` (the parameter with the model's name), ``tags``.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: InferenceFleet,
        vpc: ec2.IVpc,
        retention: Retention,
    ) -> None:
        """Declare the model of ``fleet``; what the endpoint serves is a rollout's business."""
        super().__init__(scope, construct_id)
        endpoint = naming.hosted_endpoint(environment, fleet.name)
        log_group = logs.LogGroup(
            self,
            "Logs",
            # SageMaker writes there, and would make it with a retention of for ever.
            log_group_name=f"/aws/sagemaker/Endpoints/{endpoint}",
            retention=retention.log_days,
            removal_policy=retention.removal_policy,
        )
        self.key = kms.Key(
            self,
            "Key",
            description="Volumes of a hosted endpoint",
            enable_key_rotation=True,
            removal_policy=retention.removal_policy,
        )
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, allow_all_outbound=False, description="Hosted models: reached by nobody"
        )
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS services over TLS")
        subnets = vpc.private_subnets
        self.role = HostedRole(
            self, "Role", environment=environment, fleet=fleet, log_group=log_group, subnets=subnets, group=group
        )
        self.tags = {"project": naming.PROJECT, "environment": environment, "owner": fleet.owner}
        self.variant = variant(fleet)
        self.request = self._request(environment, fleet, subnets, group)
        model = self._model(fleet)
        model.node.add_dependency(self.role)
        self.declared = declared_parameter(environment, fleet)
        ssm.StringParameter(
            self,
            "Declared",
            parameter_name=self.declared,
            string_value=model.attr_model_name,
        )
        for part in (self.key, self.role, group):
            CrossStackReferences.of(part).produce(ReferenceStrength.WEAK)
        Annotations.of(self).add_info(price_difference_text(Stack.of(self).region, fleet))

    def _request(
        self, environment: str, fleet: InferenceFleet, subnets: list[ec2.ISubnet], group: ec2.ISecurityGroup
    ) -> dict[str, Any]:
        told = serving_environment(Stack.of(self), environment, fleet) | {"SAGEMAKER_BIND_TO_PORT": str(PORT)}
        return {
            "PrimaryContainer": {"Image": image_by_digest(fleet.endpoint.container_image), "Environment": told},
            "ExecutionRoleArn": self.role.role_arn,
            # Without a network it could not fetch its compiled graphs; where it has none, it needs no network.
            "EnableNetworkIsolation": artifact_of(fleet) is None,
            "VpcConfig": {
                "Subnets": [subnet.subnet_id for subnet in subnets],
                "SecurityGroupIds": [group.security_group_id],
            },
        }

    def _model(self, fleet: InferenceFleet) -> sagemaker.CfnModel:
        container, network = self.request["PrimaryContainer"], self.request["VpcConfig"]
        # Without a name: it is replaced whenever something in it changes, and the one that serves stays.
        model = sagemaker.CfnModel(
            self,
            "Model",
            execution_role_arn=self.request["ExecutionRoleArn"],
            enable_network_isolation=self.request["EnableNetworkIsolation"],
            primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
                image=container["Image"], environment=container["Environment"]
            ),
            vpc_config=sagemaker.CfnModel.VpcConfigProperty(
                subnets=network["Subnets"], security_group_ids=network["SecurityGroupIds"]
            ),
        )
        # A model that serves was declared earlier, and SageMaker needs it for every instance that it starts.
        model.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        Tags.of(model).add("owner", fleet.owner)
        return model


def declared_parameter(environment: str, fleet: InferenceFleet) -> str:
    """The parameter with the name of the newest model."""
    return naming.declared_model_parameter(environment, fleet.name, fleet.endpoint.sagemaker_generation)


def variant(fleet: InferenceFleet) -> dict[str, Any]:
    """What every variant of the endpoint is configured with, in SageMaker's keys."""
    return {
        "InstanceType": hosted_type(fleet.instance_type),
        "VolumeSizeInGB": VOLUME_GIB,
        "ContainerStartupHealthCheckTimeoutInSeconds": LONGEST_START_SECONDS,
    }


def image_by_digest(image: str) -> str:
    """SageMaker takes a tag or a digest; where the file has both, the tag is for people."""
    return _TAG_BEFORE_DIGEST.sub("", image)

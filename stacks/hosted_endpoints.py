"""Endpoints that SageMaker hosts: the models that the file declares, and each endpoint as it was first created.

The models are in a stack before the endpoints': those are created with the first version of a parameter there, which
stays what it is however often the file declares another model.
Nothing of an endpoint or its first configuration ever changes in the template, so no deployment ever sets what serves,
during a rollout or after it.
"""

from typing import Final

from aws_cdk import CrossStackReferences, ReferenceStrength, Stack, Tags
from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import naming
from fleet.hosting.variants import STABLE
from stacks.constructs.hosted_model import HostedModel, declared_parameter, variant
from stacks.constructs.retention import retention_of
from stacks.network import NetworkStack


class HostedModelsStack(Stack):
    """Attribute: ``models``, by fleet name."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment, network: NetworkStack) -> None:
        """Declare the model of every fleet that SageMaker serves."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self.models = {
            fleet.name: HostedModel(
                self,
                fleet.name,
                environment=environment.name,
                fleet=fleet,
                vpc=network.vpc,
                retention=retention_of(environment),
            )
            for fleet in environment.hosted_fleets
        }


# SSM keeps a hundred versions of a parameter: docs/sagemaker.md says what then.
_FIRST: Final = 1
_SCALE_IN_SECONDS: Final = 600
_SCALE_OUT_SECONDS: Final = 300


class HostedEndpointsStack(Stack):
    """One endpoint for every fleet that SageMaker serves, by its name of ``naming.hosted_endpoint``."""

    def __init__(
        self, scope: Construct, construct_id: str, *, environment: Environment, models: HostedModelsStack
    ) -> None:
        """Create the endpoints of ``models``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        # By the parameter and not by the model, which is another one tomorrow.
        self.add_stack_dependency(models)
        for fleet in environment.hosted_fleets:
            name = naming.hosted_endpoint(environment.name, fleet.name)
            endpoint = self._endpoint(environment.name, fleet, name, models.models[fleet.name].key.key_arn)
            self._scaling(fleet, name, endpoint)

    def _endpoint(self, environment: str, fleet: InferenceFleet, name: str, key_arn: str) -> sagemaker.CfnEndpoint:
        declared, generation = declared_parameter(environment, fleet), fleet.endpoint.sagemaker_generation
        settings = variant(fleet)
        configuration = sagemaker.CfnEndpointConfig(
            self,
            f"{fleet.name}-first",
            endpoint_config_name=f"{name}-first-{generation}",
            kms_key_id=key_arn,
            production_variants=[
                sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                    variant_name=STABLE,
                    model_name=ssm.StringParameter.value_for_string_parameter(self, declared, _FIRST),
                    # How many there are is said to Application Auto Scaling, which no rollout overrules.
                    initial_instance_count=1,
                    initial_variant_weight=100,
                    instance_type=settings["InstanceType"],
                    volume_size_in_gb=settings["VolumeSizeInGB"],
                    container_startup_health_check_timeout_in_seconds=settings[
                        "ContainerStartupHealthCheckTimeoutInSeconds"
                    ],
                )
            ],
        )
        endpoint = sagemaker.CfnEndpoint(
            self,
            fleet.name,
            endpoint_name=name,
            endpoint_config_name=configuration.attr_endpoint_config_name,
            # Of another generation: the instances that there are stay as many.
            retain_all_variant_properties=True,
        )
        Tags.of(endpoint).add("owner", fleet.owner)
        return endpoint

    def _scaling(self, fleet: InferenceFleet, name: str, endpoint: sagemaker.CfnEndpoint) -> None:
        settings = fleet.endpoint.sagemaker
        target = scaling.CfnScalableTarget(
            self,
            f"{fleet.name}-instances",
            service_namespace="sagemaker",
            scalable_dimension="sagemaker:variant:DesiredInstanceCount",
            resource_id=f"endpoint/{name}/variant/{STABLE}",
            min_capacity=settings.min if settings else fleet.nodes,
            max_capacity=settings.max if settings else fleet.nodes,
        )
        target.node.add_dependency(endpoint)
        if settings is None:
            return
        scaling.CfnScalingPolicy(
            self,
            f"{fleet.name}-scaling",
            policy_name=f"{name}-invocations",
            policy_type="TargetTrackingScaling",
            scaling_target_id=target.ref,
            target_tracking_scaling_policy_configuration=scaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty(
                target_value=settings.invocations_per_instance_minute,
                predefined_metric_specification=scaling.CfnScalingPolicy.PredefinedMetricSpecificationProperty(
                    predefined_metric_type="SageMakerVariantInvocationsPerInstance"
                ),
                scale_in_cooldown=_SCALE_IN_SECONDS,
                scale_out_cooldown=_SCALE_OUT_SECONDS,
            ),
        )

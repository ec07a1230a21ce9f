"""What watches an environment: the node log group, the topics that alarms speak to, the alarms and the dashboards."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aws_cdk import Annotations, ArnFormat, CrossStackReferences, ReferenceStrength, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from dashboards import agent_health, capacity_and_cost, endpoint, inference, operator, training
from dashboards.alarms import Alarm, AlarmGroup, mute
from dashboards.dashboard import dashboard
from environments.alarms import deployed_alarms, environment_alarms, platform_health_alarms
from environments.model import Environment
from environments.month_shape import over_cloudwatch_budget
from fleet import naming
from fleet.alarms import AnySpec, Severity
from fleet.capacity import LaunchPlan
from fleet.load_balancer import EndpointNames
from stacks.constructs.retention import retention_of


class ObservabilityStack(Stack):
    """Attributes: ``page_topic``, ``ticket_topic``, ``bypass_pager`` (people subscribe to it), ``topic_key``,
    ``node_log_group``, ``alarms`` (by fleet name), ``platform_alarms``, ``alarm_pages`` (what a page says, by name).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        plans: Mapping[str, LaunchPlan],
        endpoints: Mapping[str, EndpointNames],
    ) -> None:
        """Watch every fleet of ``environment``; ``endpoints`` are the load balancers of those that serve."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        # Encrypted by CloudWatch Logs with its own key; there are no prompts, names or paths in a node event.
        self.node_log_group = logs.LogGroup(
            self,
            "NodeEvents",
            log_group_name=naming.node_log_group(environment.name),
            retention=retention_of(environment).log_days,
            removal_policy=retention_of(environment).removal_policy,
        )
        self.topic_key = self._topic_key(environment)
        self.page_topic = self._topic("Pages", self.topic_key, naming.topic_name(environment.name, Severity.PAGE))
        self.ticket_topic = self._topic("Tickets", self.topic_key, naming.topic_name(environment.name, Severity.TICKET))
        if environment.budgets is not None:
            self._let_budgets_in()
        self.bypass_pager = self._topic("PastThePager", self.topic_key, naming.bypass_pager_topic(environment.name))
        # Dashboards draw the thresholds of the classic set: those of a query are not on a graph's axis.
        classic = environment_alarms(environment, endpoints)
        specs = deployed_alarms(environment, classic)
        platform_health = platform_health_alarms(environment, self._precompilation(environment))
        every = (*platform_health, *(spec for own in specs.values() for spec in own))
        self.alarm_pages = {spec.name: spec.page(environment.paging.runbooks_url) for spec in every if spec.notifies}
        self.platform_alarms = self._alarms("PlatformAlarms", environment, platform_health)
        suppressors = {spec.name: self.platform_alarms.by_key[spec.key] for spec in platform_health}
        self.alarms = {
            fleet.name: self._alarms(
                fleet.name,
                environment,
                specs[fleet.name],
                tags={"fleet": fleet.name, "owner": fleet.owner},
                suppressors=suppressors,
            )
            for fleet in environment.fleets
        }
        mute(self, environment.name, environment.maintenance, specs)
        for finding in over_cloudwatch_budget(environment):
            Annotations.of(self).add_warning_v2(f"neuron-fleet:{finding.code}", str(finding))
        audiences = {
            "operator": operator.rows(
                environment.name,
                plans,
                (*self.alarms.values(), self.platform_alarms),
                runbooks_url=environment.paging.runbooks_url,
            ),
            "training": training.rows(environment.name, environment.training_fleets, plans, classic),
            "inference": inference.rows(environment, plans, classic, endpoints),
            "capacity-and-cost": capacity_and_cost.rows(environment.name, plans, classic, self.alarms),
            "agent-health": agent_health.rows(environment.name, list(plans)),
        }
        for audience, rows in audiences.items():
            if rows:
                dashboard(self, environment.name, audience, rows)
        own = Construct(self, "Endpoints")
        for fleet, rows in endpoint.dashboards(environment, plans, classic, endpoints, self.alarms).items():
            # By the fleet's name as it is: two that differ in a dash only would be one in PascalCase.
            dashboard(own, environment.name, naming.endpoint_audience(fleet), rows, construct_id=fleet)

    def _alarms(
        self,
        construct_id: str,
        environment: Environment,
        specs: Sequence[AnySpec],
        *,
        tags: Mapping[str, str] = MappingProxyType({}),
        suppressors: Mapping[str, Alarm] = MappingProxyType({}),
    ) -> AlarmGroup:
        return AlarmGroup(
            self,
            construct_id,
            specs=specs,
            topics={Severity.PAGE: self.page_topic, Severity.TICKET: self.ticket_topic},
            bypass_pager=self.bypass_pager,
            runbooks_url=environment.paging.runbooks_url,
            tags=tags,
            suppressors=suppressors,
        )

    def _precompilation(self, environment: Environment) -> str:
        # By its name: the pipeline is deployed later, and its alarms wait for it.
        return self.format_arn(
            service="states",
            resource="stateMachine",
            resource_name=naming.precompile_state_machine(environment.name),
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )

    def _topic_key(self, environment: Environment) -> kms.Key:
        # Of our own, because the policy of the key that SNS brings along does not let CloudWatch alarms in.
        key = kms.Key(
            self,
            "TopicKey",
            description="Alarm notifications",
            enable_key_rotation=True,
            removal_policy=retention_of(environment).removal_policy,
        )
        # Only the Capacity Block engine refers to it: as an export it would end with the last block, and be in its way.
        CrossStackReferences.of(key).produce(ReferenceStrength.WEAK)
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": self.account}},
            )
        )
        return key

    def _let_budgets_in(self) -> None:
        """AWS Budgets publishes as a service of the account; its budgets' ARNs name no region.

        Source: Cost Management user guide, "Creating an Amazon SNS topic for budget notifications".
        """
        budgets = iam.ServicePrincipal("budgets.amazonaws.com")
        arn = self.format_arn(service="budgets", region="", resource="*", arn_format=ArnFormat.NO_RESOURCE_NAME)
        own = {"StringEquals": {"aws:SourceAccount": self.account}, "ArnLike": {"aws:SourceArn": arn}}
        self.ticket_topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="BudgetsPublish",
                principals=[budgets],
                actions=["sns:Publish"],
                resources=[self.ticket_topic.topic_arn],
                conditions=own,
            )
        )
        self.topic_key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[budgets], actions=["kms:Decrypt", "kms:GenerateDataKey*"], resources=["*"], conditions=own
            )
        )

    def _topic(self, construct_id: str, key: kms.IKey, name: str) -> sns.Topic:
        topic = sns.Topic(self, construct_id, topic_name=name, master_key=key, enforce_ssl=True)
        alarms = self.format_arn(
            service="cloudwatch", resource="alarm", resource_name="*", arn_format=ArnFormat.COLON_RESOURCE_NAME
        )
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsPublish",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": self.account},
                    "ArnLike": {"aws:SourceArn": alarms},
                },
            )
        )
        return topic

"""What nodes share of the compile cache: a file system that they read and precompilation writes, leases, and S3.

Compilers never work in the file system: locks do not hold on a network file system. Nodes compile on local disk, fetch
from here on a miss, and whoever precompiles promotes finished graphs, and archives those of a model in S3.
"""

from typing import Final

from aws_cdk import Acknowledgment, CrossStackReferences, ReferenceStrength, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from aws_cdk.region_info import RegionInfo
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.compile_cache import artifact
from stacks.constructs.cache_storage import artifact_bucket, lease_table
from stacks.constructs.retention import retention_of
from stacks.network import NetworkStack

ROOT: Final = "/neuron-compile-cache"
WRITER_ID: Final = "10000"
READER_ID: Final = "10001"
NFS: Final = ec2.Port.tcp(2049)


class CompileCacheStack(Stack):
    """Attributes: ``file_system``, ``reader`` and ``writer`` (access points), ``leases`` (table), and of the
    bucket ``bucket_name`` and ``bucket_arn``.

    Rights are given by ``grant_read``, to jobs by ``grant_wait`` and ``grant_restore`` too, and to whoever precompiles
    by ``grant_write``.
    """

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment, network: NetworkStack) -> None:
        """Build the file system with a mount target in every private subnet."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        kept = retention_of(environment).removal_policy
        group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=network.vpc,
            allow_all_outbound=False,
            description="The compile cache: NFS from nodes",
        )
        group.add_ingress_rule(network.node_security_group, NFS, "NFS from nodes")
        # A container of a multi-node job mounts through an interface of its own. AWS Batch puts it into the VPC's
        # default group when the compute environment names none, and ours leaves that to the launch template.
        containers = ec2.SecurityGroup.from_security_group_id(
            self, "ContainerGroup", network.vpc.vpc_default_security_group
        )
        group.add_ingress_rule(containers, NFS, "NFS from containers of multi-node jobs")
        self.file_system = efs.FileSystem(
            self,
            "Files",
            vpc=network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
            security_group=group,
            encrypted=True,
            # The default, bursting, starves when every node of a fleet fetches at once: a cache is small and bursty.
            throughput_mode=efs.ThroughputMode.ELASTIC,
            lifecycle_policy=efs.LifecyclePolicy.AFTER_30_DAYS,
            out_of_infrequent_access_policy=efs.OutOfInfrequentAccessPolicy.AFTER_1_ACCESS,
            # Everything here can be compiled again, so it is not backed up.
            enable_automatic_backups=False,
            removal_policy=kept,
        )
        # As an export it would end with the last training fleet, which could then not leave.
        CrossStackReferences.of(self.file_system).produce(ReferenceStrength.WEAK)
        # Past the L2, which adds a statement of its own that lets everybody write who reaches a mount target.
        _resource(self.file_system).file_system_policy = _policy()
        self.writer = self._access_point("Writer", WRITER_ID)
        self.reader = self._access_point("Reader", READER_ID)
        self.leases = lease_table(self, "Leases", kept)
        self.bucket_name = naming.artifact_bucket(environment.name, environment.account, environment.region)
        self.bucket_arn = f"arn:{RegionInfo.get(environment.region).partition}:s3:::{self.bucket_name}"
        artifact_bucket(self, "Artifacts", bucket_name=self.bucket_name, removal_policy=kept)
        self._tell_outsiders(environment)

    def grant_read(self, role: iam.IRole) -> None:
        """Let ``role`` mount through the reading access point."""
        self._grant(role, self.reader, "elasticfilesystem:ClientMount")

    def grant_wait(self, role: iam.IRole) -> None:
        """Let ``role`` see who compiles a graph at this moment, and wait for that instead of compiling it too."""
        role.add_to_principal_policy(
            iam.PolicyStatement(actions=["dynamodb:GetItem"], resources=[self.leases.table_arn])
        )

    def grant_restore(self, role: iam.IRole) -> None:
        """Let ``role`` take graphs from S3 that the shared tier has let go of: by their names, without a list."""
        role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[self._objects]))
        self._acknowledge_objects(role)

    def grant_write(self, role: iam.IRole) -> None:
        """Let ``role`` write through the writing access point, under leases, and put artifacts into the bucket.

        What each needs is in the docstring of ``workload/compile_cache/adapters.py``.
        """
        self._grant(role, self.writer, "elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite")
        for actions, resource in (
            (["dynamodb:GetItem", "dynamodb:PutItem"], self.leases.table_arn),
            (["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"], self._objects),
            # Not for some prefix only: it is also what S3 looks for to say that an object is not there, 404 and not
            # 403, and such a request has no prefix.
            (["s3:ListBucket"], self.bucket_arn),
        ):
            role.add_to_principal_policy(iam.PolicyStatement(actions=actions, resources=[resource]))
        self._acknowledge_objects(role)

    @property
    def _objects(self) -> str:
        return f"{self.bucket_arn}/{artifact.ROOT}/*"

    def _acknowledge_objects(self, role: iam.IRole) -> None:
        reason = "artifacts get their names when they are compiled"
        Validations.of(role).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{self._objects}]", reason=reason)
        )

    def _tell_outsiders(self, environment: Environment) -> None:
        """Names that CloudFormation makes up, for `fleet cache`, which runs outside this app."""
        place = {"table": self.leases.table_name, "bucket": self.bucket_name}
        ssm.StringParameter(
            self,
            "Place",
            description="Where the compile cache keeps its leases and artifacts",
            parameter_name=naming.compile_cache_place_parameter(environment.name),
            string_value=self.to_json_string(place),
        )

    def _access_point(self, name: str, user: str) -> efs.AccessPoint:
        # Both see the same folder. It belongs to the writer and others may only read it, so that the reading access
        # point cannot write even with a role that was granted too much.
        return self.file_system.add_access_point(
            name,
            path=ROOT,
            create_acl=efs.Acl(owner_uid=WRITER_ID, owner_gid=WRITER_ID, permissions="755"),
            posix_user=efs.PosixUser(uid=user, gid=user),
        )

    def _grant(self, role: iam.IRole, access_point: efs.AccessPoint, *actions: str) -> None:
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=list(actions),
                resources=[self.file_system.file_system_arn],
                conditions={"StringEquals": {"elasticfilesystem:AccessPointArn": access_point.access_point_arn}},
            )
        )


def _resource(file_system: efs.FileSystem) -> efs.CfnFileSystem:
    resource = file_system.node.default_child
    if not isinstance(resource, efs.CfnFileSystem):
        raise TypeError(f"{file_system.node.path} has no file system resource")
    return resource


def _policy() -> iam.PolicyDocument:
    """What nobody may do, whatever their role allows; allowing is left to roles, one access point each.

    The policy is part of the file system, which its access points refer to, so it cannot name them: it demands that
    there is one.
    """
    return iam.PolicyDocument(
        statements=[
            _deny("DenyPlainText", ["*"], {"Bool": {"aws:SecureTransport": "false"}}),
            _deny(
                "DenyWithoutAccessPoint",
                ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
                {"Null": {"elasticfilesystem:AccessPointArn": "true"}},
            ),
            _deny("DenyRoot", ["elasticfilesystem:ClientRootAccess"], None),
        ]
    )


def _deny(sid: str, actions: list[str], conditions: dict[str, dict[str, str]] | None) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid,
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=actions,
        conditions=conditions,
    )

"""The compile cache: encrypted, elastic, mounted over TLS through an access point, written through one of the two."""

import json

import pytest

from environments import loader
from fleet import naming
from tests.support.templates import templates
from tests.support.watching import flatten

ENVIRONMENTS = loader.available()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_file_system_is_encrypted_and_elastic(environment: str) -> None:
    files = templates(environment)["compile-cache"].resource("AWS::EFS::FileSystem")
    assert files.properties["Encrypted"] is True
    assert files.properties["ThroughputMode"] == "elastic"
    assert "BackupPolicy" not in files.properties
    kept = loader.load(environment).retain_data
    assert files.body["DeletionPolicy"] == ("RetainExceptOnCreate" if kept else "Delete")


def test_nobody_mounts_in_plain_text_or_without_an_access_point_or_as_root() -> None:
    files = templates("prod")["compile-cache"].resource("AWS::EFS::FileSystem")
    assert files.properties["FileSystemPolicy"]["Statement"] == [
        {
            "Sid": "DenyPlainText",
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": "*",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
        {
            "Sid": "DenyWithoutAccessPoint",
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
            "Condition": {"Null": {"elasticfilesystem:AccessPointArn": "true"}},
        },
        {
            "Sid": "DenyRoot",
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": "elasticfilesystem:ClientRootAccess",
        },
    ]


def test_both_access_points_show_one_folder_that_only_the_writer_may_change() -> None:
    cache = templates("prod")["compile-cache"]
    reader = cache.resource("AWS::EFS::AccessPoint", "Files/Reader").properties
    writer = cache.resource("AWS::EFS::AccessPoint", "Files/Writer").properties
    assert reader["RootDirectory"] == writer["RootDirectory"]
    owner = writer["RootDirectory"]["CreationInfo"]
    assert owner["Permissions"] == "755"
    assert writer["PosixUser"] == {"Uid": owner["OwnerUid"], "Gid": owner["OwnerGid"]}
    assert reader["PosixUser"]["Uid"] != owner["OwnerUid"]
    assert reader["PosixUser"]["Gid"] != owner["OwnerGid"]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_zone_has_a_mount_target_that_nodes_and_their_containers_reach(environment: str) -> None:
    cache = templates(environment)["compile-cache"]
    zones = loader.load(environment).network.availability_zones
    assert len(cache.resources("AWS::EFS::MountTarget")) == len(zones)
    rules = [rule.properties for rule in cache.resources("AWS::EC2::SecurityGroupIngress")]
    assert {(rule["FromPort"], rule["ToPort"]) for rule in rules} == {(2049, 2049)}
    # AWS Batch puts containers of multi-node jobs into the VPC's default group.
    for group in ("NodeGroup", "DefaultSecurityGroup"):
        assert sum(group in str(rule["SourceSecurityGroupId"]) for rule in rules) == 1
    assert len(rules) == 2


def test_nodes_and_training_read_through_the_reader() -> None:
    policies = [
        statement
        for name, template in templates("prod").items()
        if name != "precompile"
        for policy in template.resources("AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if "elasticfilesystem" in str(statement["Action"])
    ]
    assert len(policies) == 5
    for statement in policies:
        assert statement["Action"] == "elasticfilesystem:ClientMount"
        assert "Reader" in str(statement["Condition"]["StringEquals"]["elasticfilesystem:AccessPointArn"])


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_leases_have_a_table_whose_items_never_end(environment: str) -> None:
    table = templates(environment)["compile-cache"].resource("AWS::DynamoDB::Table")
    kept = loader.load(environment).retain_data
    assert table.properties["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]
    assert table.properties["BillingMode"] == "PAY_PER_REQUEST"
    assert table.properties["SSESpecification"] == {"SSEEnabled": True}
    # A token that begins again at 1 fences nothing, whether items end or come back from a backup.
    assert "TimeToLiveSpecification" not in table.properties
    assert "PointInTimeRecoverySpecification" not in table.properties
    assert table.body["DeletionPolicy"] == ("RetainExceptOnCreate" if kept else "Delete")


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_artifacts_have_a_bucket_that_is_closed_encrypted_and_tells_of_new_objects(environment: str) -> None:
    cache = templates(environment)["compile-cache"]
    bucket = cache.resource("AWS::S3::Bucket")
    content = loader.load(environment)
    assert bucket.properties["BucketName"] == naming.artifact_bucket(environment, content.account, content.region)
    assert set(bucket.properties["PublicAccessBlockConfiguration"].values()) == {True}
    (encryption,) = bucket.properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert bucket.properties["NotificationConfiguration"] == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    # Graphs are older than the index that names them: an end would take them from under it.
    assert not any("Expiration" in str(rule) for rule in bucket.properties["LifecycleConfiguration"]["Rules"])
    assert bucket.body["DeletionPolicy"] == ("RetainExceptOnCreate" if content.retain_data else "Delete")
    (statement,) = cache.resource("AWS::S3::BucketPolicy").properties["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_longest_name_of_an_environment_makes_a_name_of_a_bucket() -> None:
    name = naming.artifact_bucket("e" * 31, "111122223333", "ap-southeast-2")
    assert len(name) <= 63
    assert name != naming.artifact_bucket("e" * 31, "111122223333", "us-east-2")


def test_outsiders_read_where_leases_and_artifacts_are() -> None:
    cache = templates("prod")["compile-cache"]
    place = cache.resource("AWS::SSM::Parameter").properties
    table = cache.resource("AWS::DynamoDB::Table").logical_id
    assert place["Name"] == "/neuron-fleet/prod/compile-cache"
    name = naming.artifact_bucket("prod", "111122223333", "us-east-2")
    assert json.loads(flatten(place["Value"])) == {"table": f"<Ref:{table}>", "bucket": name}

"""The compile cache: encrypted, elastic, mounted over TLS through an access point, written through one of the two."""

import pytest

from environments import loader
from tests.support.templates import templates

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


def test_no_role_of_the_platform_may_write_yet_and_all_nodes_read_through_the_reader() -> None:
    policies = [
        statement
        for template in templates("prod").values()
        for policy in template.resources("AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if "elasticfilesystem" in str(statement["Action"])
    ]
    assert len(policies) == 5
    for statement in policies:
        assert statement["Action"] == "elasticfilesystem:ClientMount"
        assert "Reader" in str(statement["Condition"]["StringEquals"]["elasticfilesystem:AccessPointArn"])

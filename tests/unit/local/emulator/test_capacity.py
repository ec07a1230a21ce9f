"""EC2's capacity over boto3: reservations, Capacity Blocks, offerings, dry runs and subnets."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from environments import loader
from local.control import EmulatorControl, EmulatorGoneError
from local.deployment import put_blocks
from tests.unit.local.emulator.conftest import Emulator, deploy, start_emulator

REGION = "us-east-2"
BLOCK = "cr-0a1b2c3d4e5f60718"
TAGS = {"project": "neuron-fleet", "environment": "local", "fleet": "a"}
# 2026-12-01 11:30 UTC: a moment at which blocks begin.
START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An account of its own: these tests set the clock and count what is there."""
    running = start_emulator(tmp_path_factory.mktemp("capacity"))
    EmulatorControl(running.url).set_clock(START.timestamp())
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture(scope="module")
def control(account: Emulator) -> EmulatorControl:
    return EmulatorControl(account.url)


@pytest.fixture(scope="module")
def ec2(account: Emulator) -> Any:
    return account.client("ec2")


def _reservation(ec2: Any, reservation_id: str) -> dict[str, Any]:
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])["CapacityReservations"]
    return dict(found)


def _now(account: Emulator) -> datetime:
    return datetime.fromtimestamp(account.call("/_local/status")["now"], UTC)


def test_a_stacks_reservation_is_shown_in_full_and_ends_at_its_date(
    account: Emulator, control: EmulatorControl, ec2: Any
) -> None:
    tags = [{"Key": key, "Value": value} for key, value in TAGS.items()]
    properties = {
        "InstanceType": "trn1.32xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": "us-east-2c",
        "InstanceCount": 4,
        "InstanceMatchCriteria": "targeted",
        "EndDateType": "limited",
        "EndDate": "2026-12-02T00:00:00Z",
        "PlacementGroupArn": "arn:aws:ec2:us-east-2:000000000000:placement-group/pg",
        "TagSpecifications": [{"ResourceType": "capacity-reservation", "Tags": tags}],
    }
    resources = {"Reservation": {"Type": "AWS::EC2::CapacityReservation", "Properties": properties}}
    made = deploy(account, "reservation-a", resources)["Reservation"]

    found = _reservation(ec2, made)
    stack_tags = {tag["Key"]: tag["Value"] for tag in found.pop("Tags")}
    assert stack_tags.items() >= {**TAGS, "owner": "foundation"}.items()
    assert stack_tags["aws:cloudformation:logical-id"] == "Reservation"
    assert found == {
        "CapacityReservationId": made,
        "OwnerId": "000000000000",
        "CapacityReservationArn": f"arn:aws:ec2:us-east-2:000000000000:capacity-reservation/{made}",
        "AvailabilityZoneId": "use2-az3",
        "AvailabilityZone": "us-east-2c",
        "InstanceType": "trn1.32xlarge",
        "InstancePlatform": "Linux/UNIX",
        "InstanceMatchCriteria": "targeted",
        "PlacementGroupArn": "arn:aws:ec2:us-east-2:000000000000:placement-group/pg",
        "Tenancy": "default",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 4,
        "EbsOptimized": False,
        "EphemeralStorage": False,
        "State": "active",
        "StartDate": _now(account),
        "CreateDate": _now(account),
        "EndDate": datetime(2026, 12, 2, tzinfo=UTC),
        "EndDateType": "limited",
        "ReservationType": "default",
    }
    control.set_clock(datetime(2026, 12, 2, tzinfo=UTC).timestamp())
    assert (_reservation(ec2, made)["State"], _reservation(ec2, made)["AvailableInstanceCount"]) == ("expired", 0)


def test_a_planted_block_is_scheduled_then_active_then_expired(
    account: Emulator, control: EmulatorControl, ec2: Any
) -> None:
    now = _now(account)
    control.put_reservation(
        REGION, BLOCK, instance_type="trn2.48xlarge", availability_zone="us-east-2a", total=2, available=1,
        type="capacity-block", start=(now + DAY).isoformat(), end=(now + 2 * DAY).isoformat(), tags=TAGS,
    )  # fmt: skip

    seen = []
    for hours in (0, 24, 48):
        control.set_clock((now + timedelta(hours=hours)).timestamp())
        found = _reservation(ec2, BLOCK)
        seen.append((found["State"], found["AvailableInstanceCount"]))

    assert seen == [("scheduled", 0), ("active", 1), ("expired", 0)]
    assert (found["ReservationType"], found["InstanceMatchCriteria"]) == ("capacity-block", "targeted")
    assert found["EndDate"] - found["StartDate"] == DAY


def test_the_block_that_the_local_environment_names_is_there_from_the_start(tmp_path: Path) -> None:
    fresh = start_emulator(tmp_path)
    try:
        EmulatorControl(fresh.url).set_clock(START.timestamp())
        put_blocks(loader.load("local"), EmulatorControl(fresh.url))
        found = _reservation(fresh.client("ec2"), BLOCK)
    finally:
        fresh.process.terminate()
        fresh.process.wait(timeout=60)

    assert (found["State"], found["InstanceType"], found["TotalInstanceCount"]) == ("active", "trn2.48xlarge", 2)
    assert (found["AvailabilityZone"], found["EndDate"]) == ("us-east-2a", datetime(2026, 12, 18, 11, 30, tzinfo=UTC))


def test_a_planted_state_stays_until_it_is_given_back_to_the_clock(control: EmulatorControl, ec2: Any) -> None:
    control.put_reservation(REGION, "cr-1", instance_type="trn1.32xlarge", availability_zone="us-east-2b", total=4)

    control.put_reservation(REGION, "cr-1", state="failed")
    assert _reservation(ec2, "cr-1")["State"] == "failed"
    control.put_reservation(REGION, "cr-1", state=None, total=3)

    found = _reservation(ec2, "cr-1")
    assert (found["State"], found["TotalInstanceCount"], found["InstanceType"]) == ("active", 3, "trn1.32xlarge")


def test_reservations_are_found_by_tag_and_state_and_come_in_pages(control: EmulatorControl, ec2: Any) -> None:
    for number, count in enumerate([2, 3, 4]):
        control.put_reservation(
            REGION, f"cr-page{number}", instance_type="inf2.48xlarge", availability_zone="us-east-2a", total=count,
            tags={"fleet": "paged", "n": str(number)},
        )  # fmt: skip
    control.put_reservation(REGION, "cr-page2", state="cancelled")
    by_tag = {"Name": "tag:fleet", "Values": ["paged"]}

    def ids(**what: Any) -> list[str]:
        found = ec2.describe_capacity_reservations(**what)["CapacityReservations"]
        return [each["CapacityReservationId"] for each in found]

    assert ids(Filters=[by_tag]) == ["cr-page0", "cr-page1", "cr-page2"]
    assert ids(Filters=[by_tag, {"Name": "state", "Values": ["active"]}]) == ["cr-page0", "cr-page1"]
    assert ids(Filters=[by_tag, {"Name": "tag:n", "Values": ["1", "2"]}]) == ["cr-page1", "cr-page2"]
    assert ids(Filters=[{"Name": "instance-type", "Values": ["inf2.*"]}]) == ["cr-page0", "cr-page1", "cr-page2"]
    pages = list(ec2.get_paginator("describe_capacity_reservations").paginate(
        Filters=[by_tag], PaginationConfig={"PageSize": 2}
    ))  # fmt: skip
    assert [len(each["CapacityReservations"]) for each in pages] == [2, 1]


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ({"CapacityReservationIds": ["cr-none"]}, "InvalidCapacityReservationId.NotFound"),
        ({"Filters": [{"Name": "fleet", "Values": ["a"]}]}, "InvalidParameterValue"),
    ],
)
def test_an_unknown_reservation_or_filter_is_an_error(ec2: Any, what: dict[str, Any], code: str) -> None:
    with pytest.raises(ClientError) as refused:
        ec2.describe_capacity_reservations(**what)

    assert refused.value.response["Error"]["Code"] == code


def test_only_a_complete_reservation_can_be_planted(control: EmulatorControl) -> None:
    for fields, said in (
        ({}, "cr-new is new: availability_zone is needed"),
        ({"zone": "us-east-2a"}, "zone: unknown; known are"),
        ({"instance_type": "t", "availability_zone": "z", "total": "four"}, "'four' is not a number of instances"),
        ({"instance_type": "t", "availability_zone": "z", "total": 1, "state": "gone"}, "'gone' is not one of"),
    ):
        with pytest.raises(EmulatorGoneError, match=said):
            control.put_reservation(REGION, "cr-new", **fields)


def test_a_block_is_offered_bought_delivered_and_over(account: Emulator, control: EmulatorControl, ec2: Any) -> None:
    now = _now(account)
    wanted = {"InstanceType": "trn2.48xlarge", "InstanceCount": 2, "CapacityDurationHours": 48}
    offers = ec2.describe_capacity_block_offerings(
        **wanted, StartDateRange=now, EndDateRange=now + timedelta(days=5)
    )["CapacityBlockOfferings"]  # fmt: skip
    offer = offers[0]

    # $35.7608 an hour in us-east-2, times 2 instances, times 48 hours.
    assert float(offer["UpfrontFee"]) == pytest.approx(35.7608 * 2 * 48, abs=0.01)
    assert all(each["EndDate"] - each["StartDate"] == timedelta(hours=48) for each in offers)
    assert all((each["StartDate"].hour, each["StartDate"].minute) == (11, 30) for each in offers)
    assert all(now <= each["StartDate"] <= now + timedelta(days=3) for each in offers)
    tags = [{"ResourceType": "capacity-reservation", "Tags": [{"Key": "fleet", "Value": "frontier"}]}]
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX", TagSpecifications=tags
    )["CapacityReservation"]["CapacityReservationId"]
    states = []
    for at in (offer["StartDate"] - timedelta(minutes=1), offer["StartDate"], offer["EndDate"]):
        control.set_clock(max(at, now).timestamp())
        states.append(_reservation(ec2, bought)["State"])
        if states[-1] == "active":
            (extension,) = ec2.describe_capacity_block_extension_offerings(
                CapacityReservationId=bought, CapacityBlockExtensionDurationHours=24
            )["CapacityBlockExtensionOfferings"]
            assert extension["CapacityBlockExtensionStartDate"] == offer["EndDate"]
            assert float(extension["UpfrontFee"]) == pytest.approx(35.7608 * 2 * 24, abs=0.01)
    assert states[-2:] == ["active", "expired"]
    filters = [{"Name": "tag:fleet", "Values": ["frontier"]}]
    (found,) = ec2.describe_capacity_reservations(Filters=filters)["CapacityReservations"]
    assert found["CapacityReservationId"] == bought


def test_what_cannot_be_bought_is_refused(ec2: Any, control: EmulatorControl, account: Emulator) -> None:
    later = _now(account) + 10 * DAY
    old = ec2.describe_capacity_block_offerings(InstanceType="trn2.48xlarge", CapacityDurationHours=24)
    control.set_clock(later.timestamp())

    def code(**what: Any) -> str:
        with pytest.raises(ClientError) as refused:
            ec2.purchase_capacity_block(InstancePlatform="Linux/UNIX", **what)
        return str(refused.value.response["Error"]["Code"])

    first = old["CapacityBlockOfferings"][0]["CapacityBlockOfferingId"]
    assert code(CapacityBlockOfferingId="cbr-none") == "InvalidCapacityBlockOfferingId.NotFound"
    assert code(CapacityBlockOfferingId=first) == "InvalidCapacityBlockOfferingId.Expired"
    # inf2 is not sold as Capacity Blocks.
    none = ec2.describe_capacity_block_offerings(InstanceType="inf2.48xlarge", CapacityDurationHours=24)
    assert none["CapacityBlockOfferings"] == []


def test_offerings_are_those_of_the_domain_unless_others_are_planted(control: EmulatorControl, ec2: Any) -> None:
    def zones(instance_type: str) -> set[str]:
        found = ec2.describe_instance_type_offerings(
            LocationType="availability-zone-id", Filters=[{"Name": "instance-type", "Values": [instance_type]}]
        )
        return {each["Location"] for each in found["InstanceTypeOfferings"]}

    assert zones("trn1.32xlarge") == {"use2-az3"}
    control.put_offering(REGION, "trn1.32xlarge", ["use2-az1"])

    assert zones("trn1.32xlarge") == {"use2-az1"}
    assert zones("trn9.48xlarge") == set()


def test_a_dry_run_checks_what_it_refers_to_and_launches_nothing(account: Emulator, ec2: Any) -> None:
    data = {"InstanceType": "trn1.32xlarge"}
    template = deploy(
        account, "template", {"T": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}}
    )["T"]

    def code(**what: Any) -> str:
        with pytest.raises(ClientError) as answered:
            ec2.run_instances(MinCount=1, MaxCount=1, DryRun=True, **what)
        return str(answered.value.response["Error"]["Code"])

    assert code(LaunchTemplate={"LaunchTemplateId": template}) == "DryRunOperation"
    assert code(LaunchTemplate={"LaunchTemplateId": "lt-none"}) == "InvalidLaunchTemplateId.NotFound"
    assert code(SubnetId="subnet-none") == "InvalidSubnetID.NotFound"
    assert ec2.describe_instances()["Reservations"] == []


def test_a_subnet_has_the_addresses_of_its_range_until_others_are_planted(
    account: Emulator, control: EmulatorControl, ec2: Any
) -> None:
    network = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=network, CidrBlock="10.9.0.0/20")["Subnet"]["SubnetId"]

    def free() -> int:
        return int(ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailableIpAddressCount"])

    # 2 ** (32 - 20) addresses, less the five that AWS keeps.
    assert free() == 4091
    control.put_free_addresses(REGION, subnet, 3)
    assert free() == 3


def test_rules_of_a_stack_are_rules_of_the_security_group(account: Emulator, ec2: Any) -> None:
    itself = {"GroupId": {"Ref": "G"}, "IpProtocol": "-1", "Description": "all traffic between members"}
    resources = {
        "G": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "efa"}},
        "In": {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {**itself, "SourceSecurityGroupId": {"Ref": "G"}},
        },
        "Out": {
            "Type": "AWS::EC2::SecurityGroupEgress",
            "Properties": {**itself, "DestinationSecurityGroupId": {"Ref": "G"}},
        },
    }
    made = deploy(account, "efa", resources)["G"]

    def peers() -> tuple[list[str], list[str]]:
        (group,) = ec2.describe_security_groups(GroupIds=[made])["SecurityGroups"]
        return tuple(  # type: ignore[return-value]  # a tuple of two lists
            [pair["GroupId"] for rule in group[side] for pair in rule["UserIdGroupPairs"]]
            for side in ("IpPermissions", "IpPermissionsEgress")
        )

    assert peers() == ([made], [made])
    pair = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": made}]}]
    ec2.revoke_security_group_egress(GroupId=made, IpPermissions=pair)
    assert peers() == ([made], [])
    with pytest.raises(ClientError, match="does not exist in this security group"):
        ec2.revoke_security_group_egress(GroupId=made, IpPermissions=pair)


def test_a_stacks_group_takes_reservations_that_exist(account: Emulator, control: EmulatorControl, ec2: Any) -> None:
    configuration = [{"Type": "AWS::EC2::CapacityReservationPool"}]
    group = {"Name": "neuron-fleet-local-a", "Configuration": configuration}
    deploy(account, "pool", {"G": {"Type": "AWS::ResourceGroups::Group", "Properties": group}})
    groups = account.client("resource-groups")
    arn = groups.get_group(GroupName="neuron-fleet-local-a")["Group"]["GroupArn"]
    planted = control.put_reservation(
        REGION, "cr-pooled", instance_type="trn1.32xlarge", availability_zone="us-east-2c", total=4
    )["CapacityReservationArn"]
    missing = planted.replace("cr-pooled", "cr-none")

    answer = groups.group_resources(Group=arn, ResourceArns=[planted, missing])

    assert arn == "arn:aws:resource-groups:us-east-2:000000000000:group/neuron-fleet-local-a"
    assert (answer["Succeeded"], [each["ResourceArn"] for each in answer["Failed"]]) == ([planted], [missing])
    (member,) = groups.list_group_resources(Group=arn)["ResourceIdentifiers"]
    assert member == {"ResourceArn": planted, "ResourceType": "AWS::EC2::CapacityReservation"}
    owned = ec2.get_groups_for_capacity_reservation(CapacityReservationId="cr-pooled")["CapacityReservationGroups"]
    assert owned == [{"GroupArn": arn, "OwnerId": "000000000000"}]
    found = groups.get_group_configuration(Group=arn)["GroupConfiguration"]["Configuration"]
    assert [each["Type"] for each in found] == ["AWS::EC2::CapacityReservationPool"]

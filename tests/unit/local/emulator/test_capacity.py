"""EC2's capacity over boto3: Capacity Blocks, offerings, dry runs, subnets, groups of rules and of reservations."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.control import EmulatorControl
from tests.unit.local.emulator.conftest import Emulator, deploy, now_in, shown_reservation

REGION = "us-east-2"
DAY = timedelta(days=1)


def test_a_block_is_offered_bought_delivered_and_over(account: Emulator, control: EmulatorControl, ec2: Any) -> None:
    now = now_in(account)
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
        states.append(shown_reservation(ec2, bought)["State"])
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


def test_a_block_that_was_extended_ends_later_and_remembers_it(
    account: Emulator, control: EmulatorControl, ec2: Any
) -> None:
    end = now_in(account) + 2 * DAY
    control.put_reservation(
        REGION, "cr-long", instance_type="trn2.48xlarge", availability_zone="us-east-2a", total=2,
        type="capacity-block", end=end.isoformat(),
    )  # fmt: skip
    (offer,) = ec2.describe_capacity_block_extension_offerings(
        CapacityReservationId="cr-long", CapacityBlockExtensionDurationHours=24
    )["CapacityBlockExtensionOfferings"]
    what = {
        "CapacityReservationId": "cr-long",
        "CapacityBlockExtensionOfferingId": offer["CapacityBlockExtensionOfferingId"],
    }

    ec2.purchase_capacity_block_extension(**what)

    assert shown_reservation(ec2, "cr-long")["EndDate"] == end + DAY
    history = ec2.describe_capacity_block_extension_history
    (bought,) = history(CapacityReservationIds=["cr-long"])["CapacityBlockExtensions"]
    assert (bought["CapacityBlockExtensionStartDate"], bought["CapacityBlockExtensionEndDate"]) == (end, end + DAY)
    assert bought["CapacityBlockExtensionStatus"] == "payment-succeeded"
    assert (
        ec2.describe_capacity_block_extension_history(CapacityReservationIds=["cr-x"])["CapacityBlockExtensions"] == []
    )
    # It began at the end that the block had then.
    with pytest.raises(ClientError, match="does not exist"):
        ec2.purchase_capacity_block_extension(**what)


def test_what_cannot_be_bought_is_refused(ec2: Any, control: EmulatorControl, account: Emulator) -> None:
    later = now_in(account) + 10 * DAY
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


def test_offerings_are_those_of_the_domain_unless_others_are_seeded(control: EmulatorControl, ec2: Any) -> None:
    def zones(instance_type: str) -> set[str]:
        found = ec2.describe_instance_type_offerings(
            LocationType="availability-zone-id", Filters=[{"Name": "instance-type", "Values": [instance_type]}]
        )
        return {each["Location"] for each in found["InstanceTypeOfferings"]}

    assert zones("trn1.32xlarge") == {"use2-az3"}
    control.put_offering(REGION, "trn1.32xlarge", ["use2-az1"])

    assert zones("trn1.32xlarge") == {"use2-az1"}
    assert zones("trn9.of-nobody") == set()


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


def test_a_subnet_has_the_addresses_of_its_range_until_others_are_seeded(
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
    seeded = control.put_reservation(
        REGION, "cr-pooled", instance_type="trn1.32xlarge", availability_zone="us-east-2c", total=4
    )["CapacityReservationArn"]
    missing = seeded.replace("cr-pooled", "cr-none")

    answer = groups.group_resources(Group=arn, ResourceArns=[seeded, missing])

    assert arn == "arn:aws:resource-groups:us-east-2:000000000000:group/neuron-fleet-local-a"
    assert (answer["Succeeded"], [each["ResourceArn"] for each in answer["Failed"]]) == ([seeded], [missing])
    (member,) = groups.list_group_resources(Group=arn)["ResourceIdentifiers"]
    assert member == {"ResourceArn": seeded, "ResourceType": "AWS::EC2::CapacityReservation"}
    owned = ec2.get_groups_for_capacity_reservation(CapacityReservationId="cr-pooled")["CapacityReservationGroups"]
    assert owned == [{"GroupArn": arn, "OwnerId": "000000000000"}]
    found = groups.get_group_configuration(Group=arn)["GroupConfiguration"]["Configuration"]
    assert [each["Type"] for each in found] == ["AWS::EC2::CapacityReservationPool"]

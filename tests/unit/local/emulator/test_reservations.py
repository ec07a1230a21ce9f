"""Capacity reservations over boto3: made by stacks, seeded, ended by the clock, found by filters."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from environments import loader
from local.control import EmulatorControl, EmulatorGoneError
from local.deployment import put_blocks
from tests.unit.local.emulator.conftest import START, Emulator, deploy, now_in, shown_reservation, start_emulator

REGION = "us-east-2"
BLOCK = "cr-0a1b2c3d4e5f60718"
TAGS = {"project": "neuron-fleet", "environment": "local", "fleet": "a"}
DAY = timedelta(days=1)


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

    found = shown_reservation(ec2, made)
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
        "StartDate": now_in(account),
        "CreateDate": now_in(account),
        "EndDate": datetime(2026, 12, 2, tzinfo=UTC),
        "EndDateType": "limited",
        "ReservationType": "default",
    }
    control.set_clock(datetime(2026, 12, 2, tzinfo=UTC).timestamp())
    assert (shown_reservation(ec2, made)["State"], shown_reservation(ec2, made)["AvailableInstanceCount"]) == (
        "expired",
        0,
    )


def test_a_seeded_block_is_scheduled_then_active_then_expired(
    account: Emulator, control: EmulatorControl, ec2: Any
) -> None:
    now = now_in(account)
    control.put_reservation(
        REGION, BLOCK, instance_type="trn2.48xlarge", availability_zone="us-east-2a", total=2, available=1,
        type="capacity-block", start=(now + DAY).isoformat(), end=(now + 2 * DAY).isoformat(), tags=TAGS,
    )  # fmt: skip

    seen = []
    for hours in (0, 24, 48):
        control.set_clock((now + timedelta(hours=hours)).timestamp())
        found = shown_reservation(ec2, BLOCK)
        seen.append((found["State"], found["AvailableInstanceCount"]))

    assert seen == [("scheduled", 0), ("active", 1), ("expired", 0)]
    assert (found["ReservationType"], found["InstanceMatchCriteria"]) == ("capacity-block", "targeted")
    assert found["EndDate"] - found["StartDate"] == DAY


def test_the_block_that_the_local_environment_names_is_there_from_the_start(tmp_path: Path) -> None:
    fresh = start_emulator(tmp_path)
    try:
        EmulatorControl(fresh.url).set_clock(START.timestamp())
        put_blocks(loader.load("local"), EmulatorControl(fresh.url))
        found = shown_reservation(fresh.client("ec2"), BLOCK)
    finally:
        fresh.process.terminate()
        fresh.process.wait(timeout=60)

    assert (found["State"], found["InstanceType"], found["TotalInstanceCount"]) == ("active", "trn2.48xlarge", 2)
    assert (found["AvailabilityZone"], found["EndDate"]) == ("us-east-2a", datetime(2026, 12, 18, 11, 30, tzinfo=UTC))


def test_a_seeded_state_stays_until_it_is_given_back_to_the_clock(control: EmulatorControl, ec2: Any) -> None:
    control.put_reservation(REGION, "cr-1", instance_type="trn1.32xlarge", availability_zone="us-east-2b", total=4)

    control.put_reservation(REGION, "cr-1", state="failed")
    assert shown_reservation(ec2, "cr-1")["State"] == "failed"
    control.put_reservation(REGION, "cr-1", state=None, total=3)

    found = shown_reservation(ec2, "cr-1")
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


def test_only_a_complete_reservation_can_be_seeded(control: EmulatorControl) -> None:
    for fields, said in (
        ({}, "cr-new is new: availability_zone is needed"),
        ({"zone": "us-east-2a"}, "zone: unknown; known are"),
        ({"instance_type": "t", "availability_zone": "z", "total": "four"}, "'four' is not a number of instances"),
        ({"instance_type": "t", "availability_zone": "z", "total": 1, "state": "gone"}, "'gone' is not one of"),
    ):
        with pytest.raises(EmulatorGoneError, match=said):
            control.put_reservation(REGION, "cr-new", **fields)

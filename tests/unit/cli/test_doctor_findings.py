"""What `fleet doctor` reads out of AWS's answers: reservations, groups, quotas, images, secrets, launches, stacks."""

import json
from typing import Any

import pytest

from planning.preflight.stacks import ALWAYS
from tests.support import doctored
from tests.support.doctor import Doctor
from tests.support.recorded_account import IDS, own, refusal, reservation, stack
from tests.support.recorded_account import security_groups as groups


def change(doctor: Doctor, fleet: str, **changed: object) -> None:
    """Let the account show the fleet's reservation otherwise."""
    shown = [reservation(each, **(changed if each == fleet else {})) for each in IDS]
    created = reservation("created", Tags=own(doctored.NAME, "created"))
    doctor.answers["ec2:DescribeCapacityReservations"] = {"CapacityReservations": [*shown, created]}


def test_a_reservation_is_read_with_all_that_counts(doctor: Doctor) -> None:
    change(
        doctor,
        "named",
        InstanceMatchCriteria="open",
        Tenancy="dedicated",
        InstancePlatform="Windows",
        PlacementGroupArn="arn:aws:ec2:us-east-2:000000000000:placement-group/near",
        AvailableInstanceCount=1,
    )
    assert doctor.codes() == {
        "reservation-open": "warning",
        "reservation-of-other-tenancy": "error",
        "reservation-of-other-platform": "error",
        "reservation-in-placement-group": "error",
        "reservation-used-by-others": "warning",
    }


def test_what_the_fleet_itself_runs_is_not_others_use(doctor: Doctor) -> None:
    change(doctor, "named", AvailableInstanceCount=1)
    node = {"InstanceType": "trn1.32xlarge", "CapacityReservationId": IDS["named"], "Tags": own(doctored.NAME, "named")}
    doctor.answers["ec2:DescribeInstances"] = {"Reservations": [{"Instances": [node]}]}
    assert doctor.findings() == []


def test_a_member_of_the_group_is_judged_too(doctor: Doctor) -> None:
    change(doctor, "grouped", InstanceType="trn1.2xlarge")
    (found,) = doctor.findings()
    assert (found["code"], found["path"]) == ("reservation-of-other-type", "fleets[6].market.resource_group")


def test_a_reservation_that_its_stack_made_and_somebody_cancelled_is_gone(doctor: Doctor) -> None:
    shown = [reservation(each) for each in IDS]
    cancelled = reservation("created", State="cancelled", Tags=own(doctored.NAME, "created"))
    for others in ([], [cancelled]):
        doctor.answers["ec2:DescribeCapacityReservations"] = {"CapacityReservations": [*shown, *others]}
        assert doctor.codes() == {"reservation-gone": "error"}


def test_a_quota_that_was_never_raised_is_looked_up_as_aws_default(doctor: Doctor) -> None:
    unknown = refusal("NoSuchResourceException", "servicequotas:GetServiceQuota")
    doctor.answers["servicequotas:GetServiceQuota"] = unknown
    doctor.answers["servicequotas:GetAWSDefaultServiceQuota"] = {"Quota": {"Value": 0.0}}
    assert doctor.codes() == {"quota-too-low": "error"}
    doctor.answers["servicequotas:GetAWSDefaultServiceQuota"] = unknown
    assert doctor.codes() == {"quota-unknown": "warning"}


@pytest.mark.parametrize(
    ("action", "answer", "code"),
    [
        ("ssm:GetParameter", {"Parameter": {"Value": "latest"}}, "image-parameter-no-image"),
        ("ec2:DescribeImages", {"Images": []}, "image-not-found"),
        ("ec2:DescribeImages", refusal("InvalidAMIID.NotFound", "ec2:DescribeImages"), "image-not-found"),
        (
            "resource-groups:GetGroupConfiguration",
            refusal("NotFoundException", "resource-groups:GetGroupConfiguration"),
            "group-not-found",
        ),
        ("resource-groups:GetGroupConfiguration", {}, "group-not-a-pool"),
        ("resource-groups:ListGroupResources", {"Resources": []}, "group-empty"),
        ("ec2:DescribeSecurityGroups", groups("egress"), "efa-no-ingress-of-peers"),
        ("ec2:DescribeSecurityGroups", groups("ingress"), "efa-no-egress-of-peers"),
        ("acm:DescribeCertificate", {"Certificate": {"Status": "PENDING_VALIDATION"}}, "certificate-not-issued"),
        (
            "secretsmanager:DescribeSecret",
            {"DeletedDate": 1, "VersionIdsToStages": {"v" * 32: ["x"]}},
            "secret-deleted",
        ),
        ("secretsmanager:DescribeSecret", {"Name": "pagerduty"}, "secret-empty"),
        ("ec2:RunInstances", refusal("Unsupported", "ec2:RunInstances"), "launch-refused"),
        ("ec2:DescribeInstanceTypeOfferings", {"InstanceTypeOfferings": []}, "not-offered-in-zone"),
    ],
)
def test_what_is_missing_is_found(action: str, answer: Any, code: str, doctor: Doctor) -> None:
    doctor.answers[action] = answer
    assert set(doctor.codes()) == {code}


def test_the_first_cause_of_a_failed_stack_is_quoted(doctor: Doctor) -> None:
    shown = [*map(stack, ALWAYS), stack("reservation-created", "ROLLBACK_COMPLETE")]
    doctor.answers["cloudformation:DescribeStacks"] = {"Stacks": shown}
    newest_first = [
        ("R", "DELETE_COMPLETE", ""),
        ("Other", "CREATE_FAILED", "Resource creation cancelled"),
        ("R", "CREATE_FAILED", "Insufficient capacity."),
        ("stack", "CREATE_IN_PROGRESS", "User Initiated"),
        ("R", "CREATE_FAILED", "of an earlier deployment"),
    ]
    doctor.answers["cloudformation:DescribeStackEvents"] = {"StackEvents": [_event(*each) for each in newest_first]}
    (found,) = doctor.findings()
    assert (found["code"], found["severity"]) == ("reservation-failed", "error")
    assert found["message"].endswith("ROLLBACK_COMPLETE: R: Insufficient capacity.")

    denied = refusal("AccessDenied", "cloudformation:DescribeStackEvents")
    doctor.answers["cloudformation:DescribeStackEvents"] = denied
    (found,) = doctor.findings()
    assert found["message"].endswith("ROLLBACK_COMPLETE")


def _event(logical_id: str, status: str, reason: str) -> dict[str, Any]:
    return {
        "StackId": "arn",
        "EventId": "e",
        "StackName": "s",
        "Timestamp": 0,
        "LogicalResourceId": logical_id,
        "PhysicalResourceId": "arn" if logical_id == "stack" else "r",
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
    }


def test_a_tag_that_costs_do_not_go_by_is_told_where_there_are_budgets(doctor: Doctor) -> None:
    doctor.file["budgets"] = {"monthly_usd": 1000}
    tags = [{"TagKey": "environment", "Type": "UserDefined", "Status": "Active"}]
    doctor.answers["ce:ListCostAllocationTags"] = {"CostAllocationTags": tags}
    (found,) = doctor.findings()
    assert (found["code"], found["value"], found["severity"]) == ("cost-tag-inactive", "owner", "warning")
    assert "has not been seen on anything billed yet" in found["message"]

    tags.append({"TagKey": "owner", "Type": "UserDefined", "Status": "Inactive"})
    (found,) = doctor.findings()
    assert "is inactive" in found["message"]

    tags[1]["Status"] = "Active"
    assert doctor.findings() == []


def test_only_the_account_that_pays_may_list_the_tags(doctor: Doctor) -> None:
    doctor.file["budgets"] = {"monthly_usd": 1000}
    doctor.answers["ce:ListCostAllocationTags"] = refusal("AccessDeniedException", "ce:ListCostAllocationTags")
    (found,) = doctor.findings()
    assert "ce:ListCostAllocationTags" in found["message"]


def test_a_hosted_endpoint_needs_a_quota_of_sagemaker(doctor: Doctor) -> None:
    endpoint = {
        "engine": "sagemaker",
        "container_image": "000000000000.dkr.ecr.us-east-2.amazonaws.com/chat@sha256:" + "0" * 64,
    }
    fleet = {"name": "hosted", "purpose": "inference", "owner": "chat", "instance_type": "inf2.48xlarge", "nodes": 2}
    market = {"kind": "on-demand"}
    doctor.file["fleets"].append({**fleet, "market": market, "endpoint": endpoint})
    told = {"QuotaName": "ml.inf2.48xlarge for endpoint usage", "Value": 7.0}
    generous = doctor.answers["servicequotas:GetServiceQuota"]

    def quota(asked: dict[str, Any]) -> dict[str, Any]:
        assert isinstance(generous, dict)
        return {"Quota": told} if asked["ServiceCode"] == "sagemaker" else generous

    doctor.answers["servicequotas:GetServiceQuota"] = quota
    assert doctor.codes()["quota-too-low-for-rollout"] == "warning"
    told["Value"] = 8.0
    assert not [code for code in doctor.codes() if "quota" in code]


def test_a_quota_without_room_for_a_new_version_is_a_warning(doctor: Doctor) -> None:
    used: set[float] = set()

    def quota(asked: dict[str, Any]) -> dict[str, Any]:
        return {"Quota": {"Value": max(used, default=100000.0) if asked["QuotaCode"] == "L-1945791B" else 100000.0}}

    doctor.answers["servicequotas:GetServiceQuota"] = quota
    assert doctor.findings() == []
    notes = json.loads(doctor.run("--json").stdout)
    (need,) = (
        int(each["value"]) for each in notes if each["code"] == "quota-needed" and "L-1945791B" in each["message"]
    )
    # All nodes fit exactly.
    used.add(float(need))
    assert doctor.codes() == {"quota-too-low-for-rollout": "warning"}

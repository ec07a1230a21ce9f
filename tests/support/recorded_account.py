"""An account in memory: AWS's answers by action, each checked against botocore's model of the service."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any, Final

import botocore.session
from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters

from cli.doctor.account import DoctorAccount
from planning.preflight.stacks import ALWAYS
from tests.support import doctored

Answer = dict[str, Any] | Exception | Callable[[dict[str, Any]], dict[str, Any]]
REGION: Final = doctored.REGION
DAY: Final = datetime(2026, 10, 20, tzinfo=UTC)
IMAGE: Final = "ami-0123456789abcdef0"
CERTIFICATE: Final = f"arn:aws:acm:{REGION}:000000000000:certificate/11111111-2222-3333-4444-555555555555"
IDS: Final = {fleet: f"cr-0a1b2c3d4e5f6071{index}" for index, fleet in enumerate(doctored.RESERVED)}


def refusal(code: str, action: str, message: str = "as AWS says") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, action.partition(":")[2])


@cache
def model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


class RecordedAccount(DoctorAccount):
    """Answers what it was given; ``calls`` holds every call. Actions are written as in a policy."""

    def __init__(self, answers: Mapping[str, Answer], *, checked: bool = True) -> None:
        super().__init__(REGION)
        self.answers = dict(answers)
        self.checked = checked
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._calling = threading.Lock()

    def _client(self, service: str, *, once: bool = False) -> Any:
        self._clients[service, once] = client = RecordedClient(self, service)
        return client

    def answer(self, service: str, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        shapes, action = model(service).operation_model(operation), f"{model(service).signing_name}:{operation}"
        validate_parameters(request, shapes.input_shape)
        with self._calling:
            self.calls.append((action, request))
        answer = self.answers[action]
        if isinstance(answer, Exception):
            raise answer
        found = answer(request) if callable(answer) else answer
        if self.checked:
            validate_parameters(found, shapes.output_shape)
        return found


class RecordedClient:
    """A boto3 client, as far as the account uses one."""

    def __init__(self, account: RecordedAccount, service: str) -> None:
        operations = {xform_name(name): name for name in model(service).operation_names}
        self.meta = SimpleNamespace(service_model=model(service), method_to_api_mapping=operations)
        self._account, self._service = account, service

    def _ask(self, method: str, request: dict[str, Any]) -> dict[str, Any]:
        return self._account.answer(self._service, self.meta.method_to_api_mapping[method], request)

    def __getattr__(self, method: str) -> Callable[..., dict[str, Any]]:
        return lambda **request: self._ask(method, request)

    def get_paginator(self, method: str) -> Any:
        def paginate(**request: Any) -> Iterator[dict[str, Any]]:
            yield self._ask(method, request)

        return SimpleNamespace(paginate=paginate)


@dataclass
class Fleet:
    """What one fleet has in the account."""

    name: str
    instance_type: str

    @property
    def template(self) -> dict[str, Any]:
        tags = [{"Key": "environment", "Value": doctored.NAME}, {"Key": "fleet", "Value": self.name}]
        groups = ["sg-nodes"] if self.name == "chat" else ["sg-nodes", "sg-efa"]
        return {
            "InstanceType": self.instance_type,
            "NetworkInterfaces": [{"DeviceIndex": 0, "NetworkCardIndex": 0, "Groups": groups}],
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
        }


def content() -> dict[str, Any]:
    """The environment file; its endpoint has a certificate."""
    found = doctored.content(IDS)
    found["fleets"][-1]["endpoint"]["certificate_arn"] = CERTIFICATE
    return found


FLEETS: Final = [Fleet(each["name"], each["instance_type"]) for each in content()["fleets"]]


def reservation(fleet: str, **changed: object) -> dict[str, Any]:
    of_block = {"ReservationType": "capacity-block", "InstanceType": "trn2.48xlarge"} if fleet == "block" else {}
    return {
        "CapacityReservationId": IDS.get(fleet, "cr-0a1b2c3d4e5f6071f"),
        "State": "active",
        "ReservationType": "default",
        "InstanceType": "trn1.32xlarge",
        "AvailabilityZoneId": "use2-az3",
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 2,
        "InstanceMatchCriteria": "targeted",
        "InstancePlatform": "Linux/UNIX",
        "Tenancy": "default",
        **of_block,
        **changed,
    }


def own(environment: str, fleet: str) -> list[dict[str, str]]:
    return [
        {"Key": "project", "Value": "neuron-fleet"},
        {"Key": "environment", "Value": environment},
        {"Key": "fleet", "Value": fleet},
    ]


def stack(name: str, status: str = "CREATE_COMPLETE") -> dict[str, Any]:
    return {"StackName": f"neuron-fleet-{doctored.NAME}-{name}", "StackStatus": status, "CreationTime": DAY}


def _resources(request: dict[str, Any]) -> dict[str, Any]:
    kind, ids = {
        f"neuron-fleet-{doctored.NAME}-network": (
            "AWS::EC2::Subnet",
            ["subnet-a", "subnet-b", "subnet-c", "subnet-nat"],
        ),
        f"neuron-fleet-{doctored.NAME}-capacity": ("AWS::EC2::LaunchTemplate", [f"lt-{each.name}" for each in FLEETS]),
    }[request["StackName"]]
    summary = {"LogicalResourceId": "R", "ResourceStatus": "CREATE_COMPLETE", "LastUpdatedTimestamp": DAY}
    found = [{**summary, "ResourceType": kind, "PhysicalResourceId": each} for each in ids]
    return {"StackResourceSummaries": [*found, {**summary, "ResourceType": "AWS::IAM::Role"}]}


def _template(request: dict[str, Any]) -> dict[str, Any]:
    (found,) = [each for each in FLEETS if f"lt-{each.name}" == request["LaunchTemplateId"]]
    version = {
        "LaunchTemplateId": request["LaunchTemplateId"],
        "VersionNumber": 3,
        "LaunchTemplateData": found.template,
    }
    return {"LaunchTemplateVersions": [version]}


def _subnet(zone: str) -> dict[str, Any]:
    kind = "Public" if zone == "nat" else "Private"
    tags = [{"Key": "aws-cdk:subnet-type", "Value": kind}]
    name = f"{REGION}{zone}" if kind == "Private" else f"{REGION}c"
    free = 1000 if kind == "Private" else 1
    return {"SubnetId": f"subnet-{zone}", "AvailabilityZone": name, "AvailableIpAddressCount": free, "Tags": tags}


def security_groups(*directions: str) -> dict[str, Any]:
    """The EFA group allows all traffic of its members in these directions: ingress, egress."""
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-efa"}]}
    world = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    efa = {
        "IpPermissions": [rule] if "ingress" in directions else [],
        "IpPermissionsEgress": [world, *([rule] if "egress" in directions else [])],
    }
    nodes = {"GroupId": "sg-nodes", "IpPermissions": [], "IpPermissionsEgress": [world]}
    return {"SecurityGroups": [nodes, {"GroupId": "sg-efa", **efa}]}


def _zone(letter: str, number: int) -> dict[str, str]:
    return {"ZoneName": f"{REGION}{letter}", "ZoneId": f"use2-az{number}", "State": "available"}


def sound() -> dict[str, Answer]:
    """A deployed account with nothing wrong."""
    pool = [{"Type": "AWS::EC2::CapacityReservationPool"}]
    member = {
        "ResourceArn": f"arn:aws:ec2:{REGION}:000000000000:capacity-reservation/{IDS['grouped']}",
        "ResourceType": "AWS::EC2::CapacityReservation",
    }
    zones = ["use2-az1", "use2-az2", "use2-az3"]
    return {
        "sts:GetCallerIdentity": {"Account": "000000000000", "Arn": "arn:aws:iam::000000000000:user/ada"},
        "cloudformation:DescribeStacks": {"Stacks": [stack(each) for each in (*ALWAYS, "reservation-created")]},
        "cloudformation:ListStackResources": _resources,
        "dynamodb:GetItem": {},
        "ec2:DescribeAvailabilityZones": {"AvailabilityZones": [_zone("a", 1), _zone("b", 2), _zone("c", 3)]},
        "ec2:DescribeCapacityReservations": {
            "CapacityReservations": [
                *(reservation(fleet) for fleet in IDS),
                reservation("created", Tags=own(doctored.NAME, "created")),
            ]
        },
        "ec2:DescribeImages": {
            "Images": [{"ImageId": IMAGE, "State": "available", "Architecture": "x86_64"}],
        },
        "ec2:DescribeInstances": {"Reservations": []},
        "ec2:DescribeInstanceTypeOfferings": {"InstanceTypeOfferings": [{"Location": each} for each in zones]},
        "ec2:DescribeLaunchTemplateVersions": _template,
        "ec2:DescribeSecurityGroups": security_groups("ingress", "egress"),
        "ec2:DescribeSubnets": {"Subnets": [_subnet(each) for each in ("a", "b", "c", "nat")]},
        "ec2:RunInstances": refusal("DryRunOperation", "ec2:RunInstances"),
        "servicequotas:GetServiceQuota": {"Quota": {"Value": 100000.0}},
        "ssm:GetParameter": {"Parameter": {"Value": IMAGE}},
        "secretsmanager:DescribeSecret": {"VersionIdsToStages": {"v" * 32: ["AWSCURRENT"]}},
        "acm:DescribeCertificate": {"Certificate": {"Status": "ISSUED", "NotAfter": datetime(2027, 6, 1, tzinfo=UTC)}},
        "resource-groups:GetGroupConfiguration": {"GroupConfiguration": {"Configuration": pool}},
        "resource-groups:ListGroupResources": {"Resources": [{"Identifier": member}]},
    }

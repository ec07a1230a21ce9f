"""`fleet doctor` over a deployed account: silent when it is sound, and it finds all of 20 planted faults."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from botocore.exceptions import WaiterError
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from local.control import EmulatorControl
from local.deployment import put_secrets
from tests.support import doctored
from tests.support.doctored import NAME, REGION
from tests.support.embedded_client import client
from tests.support.needs import needs

# On this day every price of the file is less than 90 days old, and the block has not ended.
SOUND: Final = "2026-10-20"
# On this day the price of inf2.8xlarge, of 2026-08, is 112 days old; that of trn1 (2026-10-03) 49, of trn2 43.
LATER: Final = "2026-11-21"
FLEETS: Final = [each["name"] for each in doctored.content(dict.fromkeys(doctored.RESERVED, ""))["fleets"]]
PATIENCE: Final = {"Delay": 1, "MaxAttempts": 60}
PREFIX: Final = f"neuron-fleet-{NAME}"

pytestmark = needs("the CDK command line")


def at(fleet: str, field: str) -> str:
    return f"fleets[{FLEETS.index(fleet)}].{field}"


@dataclass
class World:
    """What can be broken: the account, the file, and the faults that calls answer with."""

    control: EmulatorControl
    content: dict[str, Any]
    reservations: dict[str, str]
    faults: list[dict[str, Any]]

    def fleet(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.content["fleets"][FLEETS.index(name)]
        return found

    def change(self, fleet: str, **fields: object) -> None:
        self.control.put_reservation(REGION, self.reservations[fleet], **fields)

    def fail(self, call: str, code: str, message: str, **match: str) -> None:
        self.faults.append({"call": call, "match": match, "error": {"code": code, "message": message}})
        self.control.set_faults(self.faults)

    def efa_group(self) -> str:
        stack = client("cloudformation").describe_stack_resources(StackName=f"{PREFIX}-network")
        groups = [each for each in stack["StackResources"] if each["ResourceType"] == "AWS::EC2::SecurityGroup"]
        return next(str(each["PhysicalResourceId"]) for each in groups if each["LogicalResourceId"].startswith("Efa"))


def no_capacity_to_reserve(world: World) -> None:
    name, stacks = f"{PREFIX}-reservation-created", client("cloudformation")
    delete(name)
    world.fail("AWS::EC2::CapacityReservation", "InsufficientInstanceCapacity", "Insufficient capacity.")
    template = {"Resources": {"Reservation": doctored.reservation("trn1.32xlarge")}}
    stacks.create_stack(StackName=name, TemplateBody=json.dumps(template))
    with pytest.raises(WaiterError, match="ROLLBACK_COMPLETE"):
        stacks.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=PATIENCE)


def stack_is_gone(_: World) -> None:
    delete(f"{PREFIX}-operations")


def delete(stack: str) -> None:
    stacks = client("cloudformation")
    stacks.delete_stack(StackName=stack)
    stacks.get_waiter("stack_delete_complete").wait(StackName=stack, WaiterConfig=PATIENCE)


def another_reservation_is_named(world: World) -> None:
    world.fleet("named")["market"]["reservation_id"] = "cr-0123456789abcdef0"


def group_is_empty(world: World) -> None:
    arn = f"arn:aws:ec2:{REGION}:000000000000:capacity-reservation/{world.reservations['grouped']}"
    client("resource-groups").ungroup_resources(Group=doctored.GROUP_ARN, ResourceArns=[arn])


def zones_are_mistaken(world: World) -> None:
    world.content["network"]["availability_zones"].update({"us-east-2a": "use2-az2", "us-east-2b": "use2-az1"})


def image_parameter_is_misspelled(world: World) -> None:
    world.fleet("created")["image_parameter"] = "/our/images/neuron"


def subnet_is_full(world: World) -> None:
    found = client("ec2").describe_subnets(Filters=[{"Name": "availability-zone", "Values": ["us-east-2c"]}])
    for subnet in found["Subnets"]:
        world.control.put_free_addresses(REGION, subnet["SubnetId"], 9)


def group_forgets_what_comes_in(world: World) -> None:
    group = world.efa_group()
    client("ec2").revoke_security_group_ingress(
        GroupId=group, SecurityGroupRuleIds=_rules_of_peers(group, egress=False)
    )


def group_forgets_what_goes_out(world: World) -> None:
    group = world.efa_group()
    client("ec2").revoke_security_group_egress(GroupId=group, SecurityGroupRuleIds=_rules_of_peers(group, egress=True))


def _rules_of_peers(group: str, *, egress: bool) -> list[str]:
    rules = client("ec2").describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])
    found = [each for each in rules["SecurityGroupRules"] if each["IsEgress"] is egress]
    return [str(each["SecurityGroupRuleId"]) for each in found if each.get("ReferencedGroupInfo")]


def secret_is_gone(_: World) -> None:
    client("secretsmanager").delete_secret(SecretId="doctored/pagerduty", ForceDeleteWithoutRecovery=True)


def secrets_are_closed(world: World) -> None:
    call = "secretsmanager:DescribeSecret"
    world.fail(call, "AccessDeniedException", "not authorized to perform it", SecretId="doctored/slack")


def launches_are_refused(world: World) -> None:
    # Only the endpoint's nodes have a plain interface.
    match = {"NetworkInterface.1.InterfaceType": "interface"}
    world.fail("ec2:RunInstances", "InvalidParameterValue", "The profile is of another account", **match)


TRAINING: Final = [name for name in FLEETS if name != "chat"]
# What is planted, and the findings that it must give: code and place, and what a person must be able to read in one.
PLANTED: Final[list[tuple[str, Callable[[World], None], str, list[str], str]]] = [
    ("no capacity to reserve", no_capacity_to_reserve, "reservation-failed", [""], "Insufficient capacity."),
    ("a stack is not deployed", stack_is_gone, "stack-not-deployed", [""], f"{PREFIX}-operations"),
    (
        "a reservation that is not there", another_reservation_is_named,
        "reservation-not-found", [at("named", "market.reservation_id")], "cr-0123456789abcdef0",
    ),
    (
        "an expired reservation", lambda world: world.change("ended", state="expired"),
        "reservation-over", [at("ended", "market.reservation_id")], "is expired",
    ),
    (
        "a reservation in another zone", lambda world: world.change("elsewhere", availability_zone="us-east-2b"),
        "reservation-in-other-zone", [at("elsewhere", "market.reservation_id")], "lies in use2-az2",
    ),
    (
        "a reservation that is too small", lambda world: world.change("small", total=1),
        "reservation-holds-too-few", [at("small", "market.reservation_id")], "holds 1 instances",
    ),
    (
        "a reservation of another type", lambda world: world.change("othertype", instance_type="trn1.2xlarge"),
        "reservation-of-other-type", [at("othertype", "market.reservation_id")], "holds trn1.2xlarge",
    ),
    (
        "a block that is over", lambda world: world.change("block", state="expired"),
        "block-over", [at("block", "market.reservation_id")], "it ended on 2026-12-18T11:30:00+00:00",
    ),
    (
        "a group without reservations", group_is_empty,
        "group-empty", [at("grouped", "market.resource_group")], "no reservation is in",
    ),
    (
        # Six fleets of 2 x 128 vCPUs in the quota, and the group's; the block counts against none: 7 x 256 = 1792.
        "a low quota", lambda world: world.control.put_quota(REGION, "L-2C3B7624", 1791),
        "quota-too-low", ["fleets"], "is 1791 vCPUs, and all nodes need 1792",
    ),
    (
        "a type that is not offered", lambda world: world.control.put_offering(REGION, "inf2.8xlarge", []),
        "not-offered-in-zone", [at("chat", "instance_type")], "EC2 does not offer inf2.8xlarge",
    ),
    (
        "mistaken zones", zones_are_mistaken,
        "zone-id-differs", ["network.availability_zones.us-east-2a", "network.availability_zones.us-east-2b"],
        "us-east-2a is use2-az1",
    ),
    (
        "a misspelled image parameter", image_parameter_is_misspelled,
        "image-parameter-not-found", [at("created", "image_parameter")], "SSM has no parameter /our/images/neuron",
    ),
    (
        "a full subnet", subnet_is_full,
        "subnet-without-addresses", ["network.availability_zones.us-east-2c"], "has 9 left",
    ),
    (
        "EFA cannot come in", group_forgets_what_comes_in,
        "efa-no-ingress-of-peers", [at(name, "efa") for name in TRAINING], "all ingress traffic of its members",
    ),
    (
        "EFA cannot go out", group_forgets_what_goes_out,
        "efa-no-egress-of-peers", [at(name, "efa") for name in TRAINING], "all egress traffic of its members",
    ),
    ("an old price", lambda _: None, "price-old", [at("chat", "market.kind")], "is of 2026-08"),
    (
        "a launch that EC2 refuses", launches_are_refused,
        "launch-refused", [f"fleets[{FLEETS.index('chat')}]"], "The profile is of another account",
    ),
    ("a secret that is not there", secret_is_gone, "secret-not-found", ["paging.pagerduty_secret"], "reach nobody"),
    ("a missing permission", secrets_are_closed, "not-allowed", ["account"], "secretsmanager:DescribeSecret"),
]  # fmt: skip


@dataclass
class Rounds:
    """The exit code and the findings of each visit."""

    before: tuple[int, list[dict[str, str]]]
    sound: tuple[int, list[dict[str, str]]]
    broken: tuple[int, list[dict[str, str]]]


def doctor(file: Path, on: str) -> tuple[int, list[dict[str, str]]]:
    answer = CliRunner().invoke(app, ["doctor", str(file), "--json", "--on", on])
    return answer.exit_code, json.loads(answer.stdout)


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rounds]:
    folder = tmp_path_factory.mktemp("doctored")
    with doctored.embedded_account(folder) as control:
        reservations = doctored.reserve(control)
        world = World(control, doctored.content(reservations), reservations, [])
        file = doctored.write(folder, world.content)
        environment = loader.load_file(file)
        put_secrets(environment, control)
        before = doctor(file, SOUND)
        doctored.deploy(environment, folder)
        sound = doctor(file, SOUND)
        for _, plant, _, _, _ in PLANTED:
            plant(world)
        doctored.write(folder, world.content)
        yield Rounds(before, sound, doctor(file, LATER))


def unwelcome(findings: list[dict[str, str]]) -> list[dict[str, str]]:
    return [each for each in findings if each["severity"] != "note"]


def test_an_account_before_its_first_deployment_has_nothing_wrong_with_it(rounds: Rounds) -> None:
    code, findings = rounds.before
    assert unwelcome(findings) == []
    assert code == 0
    assert "not-deployed" in {each["code"] for each in findings}


def test_a_sound_account_has_nothing_wrong_with_it(rounds: Rounds) -> None:
    code, findings = rounds.sound
    assert unwelcome(findings) == []
    assert code == 0
    assert {each["code"] for each in findings} == {"quota-needed", "alarms-cost"}


@pytest.mark.parametrize(("what", "code", "paths", "text"), [(row[0], *row[2:]) for row in PLANTED])
def test_a_planted_fault_is_found(what: str, code: str, paths: list[str], text: str, rounds: Rounds) -> None:
    found = [each for each in rounds.broken[1] if each["code"] == code]
    assert sorted(each["path"] for each in found) == sorted(paths), what
    assert any(text in each["message"] for each in found)
    assert all(each["fix"] for each in found)


def test_nothing_is_found_that_was_not_planted(rounds: Rounds) -> None:
    code, findings = rounds.broken
    assert code == 1
    assert {each["code"] for each in unwelcome(findings)} == {row[2] for row in PLANTED}
    assert len(PLANTED) == 20

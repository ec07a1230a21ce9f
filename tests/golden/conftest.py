"""One launch template for every golden case, synthesized together: a template of its own each would take minutes."""

from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from fleet.capacity import FleetRefusedError, compile_fleet
from stacks.constructs.efa_launch_template import EfaLaunchTemplate, Node
from tests.golden.cases import Golden, golden_cases
from tests.support.templates import new_app

OWN_GROUP = "arn:aws:resource-groups:us-east-2:111122223333:group/created-with-the-fleet"


@cache
def templates() -> dict[str, dict[str, Any]]:
    """The launch templates of all cases that can be built, by region: a type is linted where it is offered."""
    app = new_app()
    stacks: dict[str, cdk.Stack] = {}
    for case in golden_cases():
        try:
            plan = compile_fleet(case.spec)
        except FleetRefusedError:
            continue
        node = Node(
            image_id="ami-0123456789abcdef0",
            instance_profile_arn="arn:aws:iam::111122223333:instance-profile/node",
            security_group_ids=["sg-0node"] + (["sg-0peers"] if plan.has_peers else []),
            user_data="true",
            tags={"fleet": "golden"},
            placement_group_name="created-with-the-fleet" if plan.placement_group else plan.placement_group_name,
            reservation_group_arn=OWN_GROUP if plan.creates_reservation else None,
        )
        region = case.spec.region
        if region not in stacks:
            stacks[region] = cdk.Stack(app, region)
        EfaLaunchTemplate(stacks[region], case.construct_id, plan=plan, node=node)
    assembly = app.synth()
    return {region: assembly.get_stack_artifact(stack.artifact_id).template for region, stack in stacks.items()}


@cache
def _by_path() -> dict[str, dict[str, Any]]:
    return {
        resource["Metadata"]["aws:cdk:path"].split("/")[1]: resource["Properties"]["LaunchTemplateData"]
        for template in templates().values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::LaunchTemplate"
    }


def launch_template_data(case: Golden) -> dict[str, Any] | None:
    """What the case's nodes are launched from; None where it is refused."""
    return _by_path().get(case.construct_id)


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)

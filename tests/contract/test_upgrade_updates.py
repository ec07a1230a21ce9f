"""What tells a loss of data in an update, over templates that are broken on purpose."""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.upgrade import assemblies, releases
from tests.support.upgrade.data import DATA, rewritten
from tests.support.upgrade.intrinsics import Templates
from tests.support.upgrade.obstacles import obstacles
from tests.support.upgrade.updates import Effect, Loss, losses, unprotected


@pytest.fixture(scope="module")
def deployed() -> Templates:
    return assemblies.present("prod")


def found(templates: Templates, kind: str, **properties: str) -> tuple[str, str]:
    return next(
        (stack, logical_id)
        for stack, template in templates.items()
        for logical_id, body in template["Resources"].items()
        if body["Type"] == kind and properties.items() <= body.get("Properties", {}).items()
    )


def renamed_table(templates: Any) -> tuple[str, str]:
    stack, logical_id = found(templates, "AWS::DynamoDB::Table", TableName="neuron-fleet-prod-prices")
    resources = templates[stack]["Resources"]
    resources["Another"] = resources.pop(logical_id)
    return stack, logical_id


def other_bucket_name(templates: Any) -> tuple[str, str]:
    stack, logical_id = next(
        (stack, logical_id)
        for stack, template in templates.items()
        for logical_id, body in template["Resources"].items()
        if body["Type"] == "AWS::S3::Bucket" and "artifacts" in str(body["Properties"].get("BucketName"))
    )
    templates[stack]["Resources"][logical_id]["Properties"]["BucketName"] = "another-name"
    return stack, logical_id


def unencrypted_files(templates: Any) -> tuple[str, str]:
    stack, logical_id = found(templates, "AWS::EFS::FileSystem")
    templates[stack]["Resources"][logical_id]["Properties"]["Encrypted"] = False
    return stack, logical_id


def other_key_schema(templates: Any) -> tuple[str, str]:
    stack, logical_id = found(templates, "AWS::DynamoDB::Table")
    templates[stack]["Resources"][logical_id]["Properties"]["KeySchema"][0]["AttributeName"] = "another"
    return stack, logical_id


def no_stack(templates: Any) -> tuple[str, str]:
    stack, logical_id = found(templates, "AWS::KinesisFirehose::DeliveryStream")
    del templates[stack]
    return stack, logical_id


@pytest.mark.parametrize(
    ("broken", "effect"),
    [
        (renamed_table, Effect.REMOVED),
        (other_bucket_name, Effect.REPLACED),
        (unencrypted_files, Effect.REPLACED),
        (other_key_schema, Effect.MAY_BE_REPLACED),
        (no_stack, Effect.REMOVED),
    ],
)
def test_a_loss_of_data_is_found(deployed: Templates, broken: Callable[[Any], tuple[str, str]], effect: Effect) -> None:
    new = copy.deepcopy(deployed)
    place = broken(new)
    lost = {(loss.stack, loss.logical_id): loss for loss in losses(deployed, new) if loss.kind in DATA}
    assert lost[place].effect is effect


def test_an_update_to_the_same_templates_does_nothing(deployed: Templates) -> None:
    assert losses(deployed, copy.deepcopy(deployed)) == ()
    assert obstacles(deployed, copy.deepcopy(deployed)) == ()


def test_what_reads_the_id_of_a_replaced_resource_is_replaced_across_stacks_too(deployed: Templates) -> None:
    new: Any = copy.deepcopy(deployed)
    stack, logical_id = found(new, "AWS::EC2::VPC")
    new[stack]["Resources"][logical_id]["Properties"]["CidrBlock"] = "10.99.0.0/16"
    lost = losses(deployed, new)

    assert {loss.kind for loss in lost} >= {"AWS::EC2::Subnet", "AWS::EC2::SecurityGroup", "AWS::EFS::MountTarget"}
    assert any(loss.stack != stack for loss in lost)


def test_an_alarm_that_moves_to_another_logical_id_is_in_its_own_way(deployed: Templates) -> None:
    new: Any = copy.deepcopy(deployed)
    stack, logical_id = found(new, "AWS::CloudWatch::Alarm")
    new[stack]["Resources"]["Another"] = new[stack]["Resources"].pop(logical_id)
    name = new[stack]["Resources"]["Another"]["Properties"]["AlarmName"]

    assert obstacles(deployed, new) == (
        f"{stack}/Another needs the name {name} while {stack}/{logical_id} (AWS::CloudWatch::Alarm) has it",
    )


def test_an_export_that_another_stack_still_imports_cannot_go(deployed: Templates) -> None:
    new: Any = copy.deepcopy(deployed)
    stack = next(stack for stack, template in new.items() if template.get("Outputs"))
    del new[stack]["Outputs"]

    assert any(f"{stack} withdraws the export" in each for each in obstacles(deployed, new))


def test_a_policy_that_keeps_less_is_found(deployed: Templates) -> None:
    new: Any = copy.deepcopy(deployed)
    kept = next(body for body in resources(new) if body.get("DeletionPolicy") == "RetainExceptOnCreate")
    kept["DeletionPolicy"] = "Delete"

    assert Counter(each.partition(": ")[2] for each in unprotected(deployed, new)) == {
        "DeletionPolicy was RetainExceptOnCreate and is Delete": 1
    }


def resources(templates: Any) -> Iterator[dict[str, Any]]:
    for template in templates.values():
        yield from template["Resources"].values()


def test_other_weights_of_a_rollout_are_found(deployed: Templates) -> None:
    new: Any = copy.deepcopy(deployed)
    stack, logical_id = found(new, "AWS::ElasticLoadBalancingV2::ListenerRule")
    new[stack]["Resources"][logical_id]["Properties"]["Priority"] = 2
    served = next(body for body in resources(new) if "/served/" in str(body.get("Properties", {}).get("Name")))
    served["Properties"]["Value"] = "another"

    assert len(list(rewritten("prod", deployed, new))) == 2


def test_a_loss_is_one_line_that_says_what_and_why() -> None:
    loss = Loss("prices", "Table", "AWS::DynamoDB::Table", Effect.REPLACED, "TableName")
    assert str(loss) == "prices/Table (AWS::DynamoDB::Table) is replaced: TableName"


def test_a_clone_without_the_released_commit_fails_where_ci_runs_it_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(releases.RELEASES, "9.9.9", "0" * 40)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(releases.ReleaseError, match=r"version 9.9.9 is not in this clone .*git fetch --unshallow"):
        releases.required("9.9.9")

    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="git fetch --unshallow"):
        releases.required("9.9.9")

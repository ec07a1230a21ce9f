"""The prices stack: what its function may do in full, what it is told, and who may read what it keeps."""

import json
from typing import Any

import pytest
import yaml

from environments import loader
from environments.model import Environment
from stacks.constructs.python_function import ROOT
from stacks.prices import REFRESH
from tests.support.templates import stage_of, templates
from tests.support.watching import flatten

STACK = "prices"
RATE = {"usd_per_hour": 17.2, "contract": "EDP 2026", "as_of": "2026-11-02"}


def properties(body: Any, kind: str) -> list[dict[str, Any]]:
    return [resource.get("Properties", {}) for resource in body["Resources"].values() if resource["Type"] == kind]


def rights(body: Any) -> list[tuple[Any, str, Any]]:
    (policy,) = properties(body, "AWS::IAM::Policy")
    statements = policy["PolicyDocument"]["Statement"]
    assert {each["Effect"] for each in statements} == {"Allow"}
    return [(each["Action"], flatten(each["Resource"]), each.get("Condition")) for each in statements]


def test_the_function_reads_lists_and_keeps_prices_and_may_do_nothing_else() -> None:
    body = templates("prod")[STACK].body
    (logs, queue, table, lists) = rights(body)

    assert (logs[0], "RefreshLogs" in logs[1]) == (["logs:CreateLogStream", "logs:PutLogEvents"], True)
    assert (queue[0], "Unhandled" in queue[1]) == ("sqs:SendMessage", True)
    assert (table[0], "Table" in table[1]) == (["dynamodb:PutItem", "dynamodb:Scan"], True)
    assert lists == (
        [
            "ec2:DescribeCapacityBlockOfferings", "ec2:DescribeSpotPriceHistory", "pricing:GetProducts",
            "savingsplans:DescribeSavingsPlansOfferingRates",
        ],
        "*",
        None,
    )  # fmt: skip
    (role,) = properties(body, "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in role


def test_it_asks_daily_for_the_types_of_the_environment_and_their_alternatives() -> None:
    body = templates("prod")[STACK].body
    (rule,) = properties(body, "AWS::Events::Rule")
    (function,) = properties(body, "AWS::Lambda::Function")
    told = {name: flatten(value) for name, value in function["Environment"]["Variables"].items()}

    assert rule["ScheduleExpression"] == "rate(1 day)"
    assert function["FunctionName"] == "neuron-fleet-prod-prices"
    assert json.loads(told["INSTANCE_TYPES"]) == ["trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge"]
    assert (told["PRICE_REGION"], told["PRICE_TABLE"]) == ("us-east-2", "neuron-fleet-prod-prices")


def test_the_table_is_encrypted_and_found_by_its_name() -> None:
    (table,) = properties(templates("prod")[STACK].body, "AWS::DynamoDB::Table")

    assert table["TableName"] == "neuron-fleet-prod-prices"
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert "Export" not in json.dumps(templates("prod")[STACK].body.get("Outputs", {}))


@pytest.mark.parametrize(
    ("fleet", "key"),
    [
        ("trn1-pretrain", "us-east-2/trn1.32xlarge/on-demand"),
        ("trn2-frontier", "us-east-2/trn2.48xlarge/capacity-block"),
        ("inf2-chat", "us-east-2/inf2.48xlarge/on-demand"),
    ],
)
def test_a_node_reads_the_one_item_that_it_is_told_of(fleet: str, key: str) -> None:
    capacity = templates("prod")["capacity"]
    told = json.loads(capacity.resource("AWS::SSM::Parameter", f"{fleet}/").properties["Value"])
    policy = capacity.resource("AWS::IAM::Policy", f"{fleet}/").properties["PolicyDocument"]["Statement"]

    assert told["price_table"] == {"name": "neuron-fleet-prod-prices", "id": key}
    (right,) = (each for each in policy if "dynamodb" in json.dumps(each["Action"]))
    assert right == {
        "Effect": "Allow",
        "Action": "dynamodb:GetItem",
        "Resource": "arn:aws:dynamodb:us-east-2:111122223333:table/neuron-fleet-prod-prices",
        "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [key]}},
    }


def test_a_pools_other_type_is_counted_at_its_own_price() -> None:
    capacity = templates("staging")["capacity"]
    told = {
        each["instance_type"]: each["price_table"]["id"]
        for each in (json.loads(flatten(found["Value"])) for found in properties(capacity.body, "AWS::SSM::Parameter")
                     if "agents/trn1-spot" in flatten(found["Name"]))
    }  # fmt: skip
    keys = ["us-east-2/trn1.32xlarge/spot", "us-east-2/trn1n.32xlarge/spot"]

    assert told == dict(zip(["trn1.32xlarge", "trn1n.32xlarge"], keys, strict=True))
    policy = capacity.resource("AWS::IAM::Policy", "trn1-spot/").properties["PolicyDocument"]["Statement"]
    (right,) = (each for each in policy if "dynamodb" in json.dumps(each["Action"]))
    assert right["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": keys}}


def test_a_fleet_with_a_rate_of_its_own_is_counted_at_it_everywhere_and_reads_no_table() -> None:
    content = yaml.safe_load((loader.FOLDER / "dev.yaml").read_text(encoding="utf-8"))
    content["fleets"][0]["price"] = RATE
    platform = stage_of(Environment.model_validate(content))
    bodies = {stack.hierarchical_id.rpartition("/")[2]: stack.template for stack in platform.synth().stacks}
    name = content["fleets"][0]["name"]
    values = [json.loads(flatten(each["Value"])) for each in properties(bodies["capacity"], "AWS::SSM::Parameter")
              if flatten(each["Name"]).endswith(f"agents/{name}")]  # fmt: skip

    assert values[0]["price"] == {
        "usd_per_hour": 17.2, "kind": "negotiated", "source": "EDP 2026", "as_of": "2026-11-02",
    }  # fmt: skip
    assert "price_table" not in values[0]
    places = [
        json.loads(flatten(each["Value"])) for each in properties(bodies["capacity-watch"], "AWS::SSM::Parameter")
    ]
    (place,) = (each for each in places if each["fleet"] == name)
    assert (place["price"]["usd_per_hour"], place["price"]["kind"]) == (17.2, "negotiated")
    assert "$17.20 per node-hour, negotiated, EDP 2026, as of 2026-11-02" in json.dumps(bodies["observability"])


def test_the_handler_exists() -> None:
    module, _, function = REFRESH.rpartition(".")
    assert f"def {function}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")

"""The ledger: what each of its roles may do in full, where events go, what is kept, and what the tables say."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from environments import loader
from fleet import naming
from fleet.ledger.columns import COLUMNS, RECONCILED
from stacks.constructs.python_function import ROOT
from stacks.ledger import ROLL_UP
from tests.support.templates import StackTemplate, templates

STACK = "ledger"
BUCKET = "Bucket83908E77"


@pytest.fixture(scope="module")
def stack() -> StackTemplate:
    return templates("prod")[STACK]


def flat(value: Any) -> str:
    """A value with references by the logical ids of what they are to."""
    if isinstance(value, str):
        return value
    ((function, content),) = value.items()
    if function == "Fn::Join":
        return "".join(flat(each) for each in content[1])
    return f"<{content if isinstance(content, str) else '.'.join(content)}>"


def allowed(stack: StackTemplate, under: str) -> list[tuple[list[str], list[str], Any]]:
    def many(value: Any) -> list[Any]:
        return value if isinstance(value, list) else [value]

    policy = stack.resource("AWS::IAM::Policy", under).properties["PolicyDocument"]
    assert {statement["Effect"] for statement in policy["Statement"]} == {"Allow"}
    return [
        (many(s["Action"]), sorted(flat(each) for each in many(s["Resource"])), s.get("Condition"))
        for s in policy["Statement"]
    ]


def test_the_roll_up_may_read_its_bucket_write_what_it_makes_and_ask_for_the_bill(stack: StackTemplate) -> None:
    bucket = f"<{BUCKET}.Arn>"
    assert allowed(stack, "ledger/RollUp") == [
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["<RollUpLogsB082B0F2.Arn>"], None),
        (["sqs:SendMessage"], ["<Unhandled7BBE8414.Arn>"], None),
        (["s3:ListBucket"], [bucket], None),
        (["s3:GetObject"], [f"{bucket}/*"], None),
        (
            ["s3:PutObject"],
            [
                f"{bucket}/ledger/*",
                f"{bucket}/minutes/day=*",
                f"{bucket}/reconciliation/*",
                f"{bucket}/reserved/day=*",
                f"{bucket}/state.json",
            ],
            None,
        ),
        (["ce:GetCostAndUsage"], ["*"], None),
    ]


def test_firehose_may_write_events_and_logs_may_write_to_firehose(stack: StackTemplate) -> None:
    bucket = f"<{BUCKET}.Arn>"
    assert allowed(stack, "ledger/Events/DeliveryRole") == [
        (["s3:AbortMultipartUpload", "s3:PutObject"], [f"{bucket}/errors/*", f"{bucket}/events/*"], None),
        (["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"], [bucket], None),
        (["logs:PutLogEvents"], ["<EventsFailuresF865D7C1.Arn>"], None),
    ]
    assert allowed(stack, "ledger/Events/SendingRole") == [
        (["firehose:PutRecord", "firehose:PutRecordBatch"], ["<EventsStreamDD98C46B.Arn>"], None)
    ]


def test_only_the_services_of_this_account_take_the_roles(stack: StackTemplate) -> None:
    trusted = {
        role.path.split("/")[-2]: role.properties["AssumeRolePolicyDocument"]["Statement"]
        for role in stack.resources("AWS::IAM::Role")
    }
    account = loader.load("prod").account
    region = loader.load("prod").region
    assert [(s["Principal"], s["Condition"]) for s in trusted["DeliveryRole"]] == [
        ({"Service": "firehose.amazonaws.com"}, {"StringEquals": {"sts:ExternalId": account}})
    ]
    ((sender,),) = [trusted["SendingRole"]]
    assert sender["Principal"] == {"Service": "logs.amazonaws.com"}
    assert flat(sender["Condition"]["StringLike"]["aws:SourceArn"]).endswith(f":logs:{region}:{account}:*")
    assert all("ManagedPolicyArns" not in role.properties for role in stack.resources("AWS::IAM::Role"))


@pytest.mark.parametrize("environment", loader.available())
def test_node_and_capacity_events_are_subscribed_to_and_nothing_else_of_theirs(environment: str) -> None:
    filters = {
        each.properties["LogGroupName"]: each.properties["FilterPattern"]
        for each in templates(environment)[STACK].resources("AWS::Logs::SubscriptionFilter")
    }
    assert filters == {
        naming.node_log_group(environment): "{ $.seq = * }",
        naming.capacity_log_group(environment): '{ $.kind = "capacity" }',
    }


def test_events_lie_by_the_hour_of_their_arrival(stack: StackTemplate) -> None:
    stream = stack.resource("AWS::KinesisFirehose::DeliveryStream").properties
    target = stream["ExtendedS3DestinationConfiguration"]
    assert target["Prefix"] == "events/arrived=!{timestamp:yyyy-MM-dd-HH}/"
    assert target["CompressionFormat"] == "UNCOMPRESSED"
    assert "ProcessingConfiguration" not in target
    assert stream["DeliveryStreamEncryptionConfigurationInput"] == {"KeyType": "AWS_OWNED_CMK"}


def test_the_bucket_is_closed_encrypted_and_outlives_the_stack(stack: StackTemplate) -> None:
    bucket = stack.resource("AWS::S3::Bucket")
    assert bucket.logical_id == BUCKET
    assert set(bucket.properties["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = bucket.properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert bucket.body["DeletionPolicy"] == "RetainExceptOnCreate"
    (denied,) = stack.resource("AWS::S3::BucketPolicy").properties["PolicyDocument"]["Statement"]
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_ledger_itself_never_expires_and_what_it_is_made_of_does(stack: StackTemplate) -> None:
    rules = stack.resource("AWS::S3::Bucket").properties["LifecycleConfiguration"]["Rules"]
    assert {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule} == {
        "events/arrived=": 35,
        "minutes/day=": 100,
        "reserved/day=": 100,
        "errors/": 100,
        "athena/": 7,
    }


def test_the_tables_have_the_files_columns_and_find_their_days_themselves(stack: StackTemplate) -> None:
    tables = {each.properties["TableInput"]["Name"]: each.properties for each in stack.resources("AWS::Glue::Table")}
    columns: Mapping[str, Any] = {"ledger": COLUMNS, "reconciliation": RECONCILED}
    assert tables.keys() == columns.keys()
    for name, table in tables.items():
        found = table["TableInput"]
        described = [(c["Name"], c["Type"]) for c in found["StorageDescriptor"]["Columns"]]
        assert described == [(n, t) for n, t, _ in columns[name]]
        assert table["DatabaseName"] == "neuron_fleet_prod"
        assert [key["Name"] for key in found["PartitionKeys"]] == ["environment", "day"]
        assert found["Parameters"]["projection.environment.values"] == "prod"
        where = flat(found["Parameters"]["storage.location.template"])
        assert where == f"s3://<{BUCKET}>/{name}/environment=${{environment}}/day=${{day}}/"


def test_results_of_queries_are_encrypted_whatever_the_person_says(stack: StackTemplate) -> None:
    group = stack.resource("AWS::Athena::WorkGroup").properties["WorkGroupConfiguration"]
    assert group["EnforceWorkGroupConfiguration"] is True
    assert group["ResultConfiguration"]["EncryptionConfiguration"] == {"EncryptionOption": "SSE_S3"}


def test_it_runs_every_hour_and_is_told_what_it_accounts_for(stack: StackTemplate) -> None:
    assert stack.resource("AWS::Events::Rule").properties["ScheduleExpression"] == "cron(5 * * * ? *)"
    function = stack.resource("AWS::Lambda::Function").properties
    variables = function["Environment"]["Variables"]
    assert json.loads(variables["INSTANCE_TYPES"]) == sorted(
        {name for fleet in loader.load("prod").fleets for name in (fleet.instance_type, *fleet.alternative_types)}
    )
    assert (function["MemorySize"], function["EphemeralStorage"], function["Timeout"]) == (3008, {"Size": 4096}, 900)
    module, _, name = ROLL_UP.rpartition(".")
    source = ROOT / (module.replace(".", "/") + ".py")
    assert f"def {name}(" in source.read_text(encoding="utf-8")


def test_the_layers_lock_is_the_package_that_is_tested() -> None:
    lock = (ROOT / "lambdas/cost_report/requirements.lock").read_text(encoding="utf-8")
    (pinned,) = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("duckdb==")]
    assert [line.split()[0] for line in lock.splitlines() if not line.startswith("#")] == [pinned]

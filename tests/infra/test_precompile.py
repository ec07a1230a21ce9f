"""Precompilation: what each role may do in full, who may write the shared tier, and how the parts fit together."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml
from cdk_nag import AwsSolutionsChecks

from environments import loader
from environments.model import Environment
from fleet import naming
from fleet.compile_cache.graph import LOCAL_FOLDER
from stacks.constructs.python_function import ROOT
from stacks.platform import Platform
from stacks.precompile import HANDLER
from tests.support.templates import StackTemplate, stage_of, templates
from tests.support.watching import flatten
from workload.compile_cache import settings

STACK = "precompile"
BUCKET = naming.artifact_bucket("prod", "111122223333", "us-east-2")
OBJECTS = f"arn:aws:s3:::{BUCKET}"
Allowed = list[tuple[list[str], list[str], Any]]


def many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def policy(template: StackTemplate, under: str) -> Allowed:
    """Everything that the role of this construct path may do."""
    statements = [
        statement
        for each in template.resources("AWS::IAM::Policy", under)
        for statement in each.properties["PolicyDocument"]["Statement"]
    ]
    assert {statement["Effect"] for statement in statements} == {"Allow"}
    return [
        (sorted(many(s["Action"])), [subject(r) for r in many(s["Resource"])], condition(s.get("Condition")))
        for s in statements
    ]


def subject(resource: Any) -> str:
    """ARNs as they are; of a reference only the part that names what it refers to."""
    text = flatten(resource)
    known = (
        *("Files8E", "Leases", "JobLogs", "DecideLogs", "Unhandled", "Runs", "BatchQueue", "JobDefinition"),
        *("trn1pretrainplace", "trn2frontierplace", "DecideFunction", "PipelineMachine"),
    )
    found = next((name for name in known if name in text), None)
    if found is None:
        return text
    fleet = next((name for name in ("trn1pretrain", "trn2frontier") if name in text and name not in found), "")
    return f"{fleet}{found}{':*' if text.endswith(':*') else ''}"


def condition(given: Any) -> Any:
    if given is None:
        return None
    ((operator, of),) = given.items()
    return {operator: {key: "Writer" if "Writer" in str(value) else value for key, value in of.items()}}


@cache
def with_data() -> tuple[Platform, dict[str, StackTemplate]]:
    """The development environment, whose fleet reads tokens and writes checkpoints."""
    content = yaml.safe_load((loader.FOLDER / "dev.yaml").read_text(encoding="utf-8"))
    content["fleets"][0] |= {"reads": ["s3://data/tokens/"], "writes": ["s3://checkpoints"]}
    stage = stage_of(Environment.model_validate(content))
    return stage, {
        each.hierarchical_id.rpartition("/")[2]: StackTemplate(each.stack_name, ROOT, each.template)
        for each in stage.synth().stacks
    }


SHARES: Allowed = [
    (
        ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
        ["Files8E"],
        {"StringEquals": {"elasticfilesystem:AccessPointArn": "Writer"}},
    ),
    (["dynamodb:GetItem", "dynamodb:PutItem"], ["Leases"], None),
    (["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"], [f"{OBJECTS}/neuron-artifacts/*"], None),
    (["s3:ListBucket"], [OBJECTS], None),
]


@pytest.mark.parametrize("fleet", ["trn1-pretrain", "trn2-frontier"])
def test_a_precompilation_may_write_the_shared_tier_and_artifacts_and_nothing_else(fleet: str) -> None:
    assert policy(templates("prod")[STACK], f"{fleet}/Job/JobRole") == SHARES


def test_a_precompilation_reads_the_data_of_its_fleet_and_writes_none_of_it() -> None:
    stage, stacks = with_data()
    assert policy(stacks[STACK], "trn1-small/Job/JobRole")[len(SHARES) :] == [
        (["s3:GetObject"], ["arn:aws:s3:::data/tokens/*"], None),
        (["s3:ListBucket"], ["arn:aws:s3:::data"], {"StringLike": {"s3:prefix": ["tokens/*"]}}),
    ]
    assert AwsSolutionsChecks(stage).validate_scope(stage).violations == []


@pytest.mark.parametrize("fleet", ["trn1-pretrain", "trn2-frontier"])
def test_a_training_job_may_read_the_shared_tier_leases_and_archived_graphs_and_nothing_else(fleet: str) -> None:
    assert [
        (sorted(many(s["Action"])), [subject(r) for r in many(s["Resource"])], str(s.get("Condition")).count("Reader"))
        for each in templates("prod")["training"].resources("AWS::IAM::Policy", f"{fleet}/Job/JobRole")
        for s in each.properties["PolicyDocument"]["Statement"]
    ] == [
        (["elasticfilesystem:ClientMount"], ["Files8E"], 1),
        (["dynamodb:GetItem"], ["Leases"], 0),
        (["s3:GetObject"], [f"{OBJECTS}/neuron-artifacts/*"], 0),
    ]


def test_who_starts_the_container_pulls_one_image_and_writes_one_log() -> None:
    assert policy(templates("prod")[STACK], "trn1-pretrain/Job/ExecutionRole") == [
        (
            ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
            ["arn:aws:ecr:us-east-2:111122223333:repository/training"],
            None,
        ),
        (["ecr:GetAuthorizationToken"], ["*"], None),
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["JobLogs"], None),
    ]


def test_the_function_reads_requests_and_artifacts_and_writes_who_compiles() -> None:
    assert policy(templates("prod")[STACK], "Decide/Role") == [
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["DecideLogs"], None),
        (["sqs:SendMessage"], ["Unhandled"], None),
        (["dynamodb:GetItem", "dynamodb:PutItem"], ["Runs"], None),
        (["s3:GetObject"], [f"{OBJECTS}/models/*", f"{OBJECTS}/neuron-artifacts/*"], None),
        (["s3:ListBucket"], [OBJECTS], None),
        (
            ["states:DescribeExecution"],
            ["arn:aws:states:us-east-2:111122223333:execution:neuron-fleet-prod-precompile:*"],
            None,
        ),
        (["ssm:GetParameter"], ["trn1pretrainplace", "trn2frontierplace"], None),
    ]


def test_the_machine_submits_its_own_definitions_to_the_fleets_queues() -> None:
    assert policy(templates("prod")[STACK], "Pipeline/Role") == [
        (
            ["batch:SubmitJob"],
            [
                "trn1pretrainBatchQueue",
                "trn2frontierBatchQueue",
                "trn1pretrainJobDefinition",
                "trn2frontierJobDefinition",
            ],
            None,
        ),
        (["batch:TagResource"], ["arn:aws:batch:us-east-2:111122223333:job/*"], None),
        (
            [
                *("batch:DescribeJobs", "batch:TerminateJob", "logs:CreateLogDelivery", "logs:DeleteLogDelivery"),
                *("logs:DescribeLogGroups", "logs:DescribeResourcePolicies", "logs:GetLogDelivery"),
                *("logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery"),
            ],
            ["*"],
            None,
        ),
        (
            ["events:DescribeRule", "events:PutRule", "events:PutTargets"],
            ["arn:aws:events:us-east-2:111122223333:rule/StepFunctionsGetEventsForBatchJobsRule"],
            None,
        ),
        (["lambda:InvokeFunction"], ["DecideFunction", "DecideFunction:*"], None),
    ]


def test_an_event_may_start_the_machine_and_nothing_else() -> None:
    assert policy(templates("prod")[STACK], "Pipeline/Machine/EventsRole") == [
        (["states:StartExecution"], ["PipelineMachine"], None)
    ]


def test_these_are_all_roles_and_none_brings_a_managed_policy() -> None:
    roles = templates("prod")[STACK].resources("AWS::IAM::Role")
    assert len(roles) == 2 * 2 + 3
    assert not any("ManagedPolicyArns" in role.properties or "Policies" in role.properties for role in roles)


def writers() -> Iterator[tuple[str, str]]:
    for name, template in templates("prod").items():
        for each in template.resources("AWS::IAM::Policy"):
            if "elasticfilesystem:ClientWrite" in str(each.properties) or "Writer" in flatten(each.properties):
                yield name, each.path.split("/")[2]


def test_only_precompilation_writes_the_shared_tier() -> None:
    assert sorted(writers()) == [(STACK, "trn1-pretrain"), (STACK, "trn2-frontier")]


def job(environment: str, fleet: str) -> dict[str, Any]:
    return templates(environment)[STACK].resource("AWS::Batch::JobDefinition", f"{fleet}/").properties


def test_its_job_has_one_node_to_itself_with_the_shared_tier_to_write_and_a_cache_of_its_own() -> None:
    definition = job("prod", "trn1-pretrain")
    container = definition["ContainerProperties"]
    volumes = {volume["Name"]: volume for volume in container["Volumes"]}
    (mount,) = container["MountPoints"]
    efs = volumes[mount["SourceVolume"]]["EfsVolumeConfiguration"]
    told = {each["Name"]: each["Value"] for each in container["Environment"]}
    read = settings.read({name: flatten(value) for name, value in told.items()})

    assert definition["Type"] == "container"
    assert {each["Type"]: each["Value"] for each in container["ResourceRequirements"]}["VCPU"] == "128"
    assert sum("/dev/neuron" in each["HostPath"] for each in container["LinuxParameters"]["Devices"]) == 16
    assert mount == {
        "ContainerPath": told["NEURON_FLEET_CACHE_SHARED"],
        "ReadOnly": False,
        "SourceVolume": mount["SourceVolume"],
    }
    assert (efs["TransitEncryption"], efs["AuthorizationConfig"]["Iam"]) == ("ENABLED", "ENABLED")
    assert "Writer" in flatten(efs["AuthorizationConfig"]["AccessPointId"])
    # Not the host's folder: what is in it afterwards must be of this artifact only.
    assert told["NEURON_COMPILE_CACHE_URL"] == str(read.local) != LOCAL_FOLDER
    assert (read.bucket, read.region) == (BUCKET, "us-east-2")
    assert "Leases" in read.table
    assert told["NEURON_FLEET_OWNER"] == "foundation-models"


def test_its_job_comes_before_its_owners_others_and_ends_some_day() -> None:
    definition = job("prod", "trn1-pretrain")
    assert definition["SchedulingPriority"] > 1
    assert definition["Timeout"] == {"AttemptDurationSeconds": 12 * 3600}
    assert definition["RetryStrategy"]["EvaluateOnExit"][-1] == {"Action": "EXIT", "OnReason": "*"}


def test_its_jobs_have_the_tags_by_which_they_are_found() -> None:
    place = templates("prod")[STACK].resource("AWS::SSM::Parameter", "trn1-pretrain-place").properties
    assert place["Name"] == "/neuron-fleet/prod/precompile/trn1-pretrain"
    assert json.loads(flatten(place["Value"]))["tags"] == {
        "project": "neuron-fleet",
        "environment": "prod",
        "fleet": "trn1-pretrain",
        "owner": "foundation-models",
    }


def definition(environment: str) -> dict[str, Any]:
    machine = templates(environment)[STACK].resource("AWS::StepFunctions::StateMachine").properties
    content: dict[str, Any] = json.loads(flatten(machine["DefinitionString"]))
    return content


def test_the_machine_has_its_name_a_log_and_an_end() -> None:
    machine = templates("prod")[STACK].resource("AWS::StepFunctions::StateMachine").properties
    assert machine["StateMachineName"] == "neuron-fleet-prod-precompile"
    assert machine["LoggingConfiguration"]["Level"] == "ALL"
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is False
    # A job that takes too long is a failure with a reason, before the whole execution is out of time.
    assert definition("prod")["States"]["Compile"]["TimeoutSeconds"] < definition("prod")["TimeoutSeconds"]


def test_every_way_through_the_machine_ends_in_ready_or_in_a_failure_with_a_reason() -> None:
    states = definition("prod")["States"]
    following = {
        name: {
            *([state["Next"]] if "Next" in state else []),
            *([state["Default"]] if "Default" in state else []),
            *(choice["Next"] for choice in state.get("Choices", ())),
            *(catch["Next"] for catch in state.get("Catch", ())),
        }
        for name, state in states.items()
    }
    assert {name for name, after in following.items() if not after} == {"Ready", "Failed"}
    assert states["Failed"] == {"Type": "Fail", "Error": "NotPrecompiled", "CausePath": "$.reason"}
    assert following["Compile"] == {"Conclude"}
    assert following["Wait"] == {"Begin"}


def test_a_new_model_version_starts_it_and_what_cannot_be_started_is_kept() -> None:
    stack = templates("prod")[STACK]
    rule = stack.resource("AWS::Events::Rule").properties
    (target,) = rule["Targets"]
    assert rule["EventPattern"] == {
        "source": ["aws.s3"],
        "detail-type": ["Object Created"],
        "detail": {"bucket": {"name": [BUCKET]}, "object": {"key": [{"prefix": "models/"}]}},
    }
    assert target["InputTransformer"]["InputPathsMap"] == {"detail-object-key": "$.detail.object.key"}
    assert target["InputTransformer"]["InputTemplate"] == '{"object":<detail-object-key>}'
    assert "Unhandled" in flatten(target["DeadLetterConfig"]["Arn"])
    assert stack.resource("AWS::SQS::Queue").properties["QueueName"] == naming.dead_letter_queue("prod", "precompile")


def test_an_environment_without_training_has_a_machine_that_refuses() -> None:
    content = yaml.safe_load((loader.FOLDER / "prod.yaml").read_text(encoding="utf-8"))
    content["fleets"] = content["fleets"][2:]
    stage = stage_of(Environment.model_validate(content))
    (body,) = [each.template for each in stage.synth().stacks if each.hierarchical_id.endswith(STACK)]
    assert AwsSolutionsChecks(stage).validate_scope(stage).violations == []
    assert "batch:SubmitJob" not in json.dumps(body)


def test_the_handler_exists() -> None:
    module, _, function = HANDLER.rpartition(".")
    assert f"def {function}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def test_the_program_of_the_container_exists() -> None:
    # The function names it by its path: Lambdas know nothing of agents.
    service = (ROOT / "lambdas/compile_cache/service.py").read_text(encoding="utf-8")
    assert '"workload.precompile"' in service
    assert (ROOT / "workload/precompile/__main__.py").exists()

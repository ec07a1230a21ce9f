"""What holds for every stack of every environment."""

import pytest
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from environments import loader
from fleet import naming
from tests.support.linting import errors
from tests.support.templates import platform, templates

ENVIRONMENTS = loader.available()
STACKS = (
    "network",
    "compile-cache",
    "capacity",
    "training",
    "precompile",
    "inference",
    "observability",
    "operations",
    "capacity-watch",
    "prices",
    "ledger",
    "rollout",
    "budgets",
)
# Only where there is a Capacity Block to look after, a reservation to make, or a pool.
MORE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("prod", "local"), ("capacity-blocks", "reservation-trn1-pretrain")),
    "staging": ("pools",),
}
EACH = [(environment, stack) for environment in ENVIRONMENTS for stack in (*STACKS, *MORE.get(environment, ()))]
# Reviewed line by line; of the others, which are made by the same code, a line for each resource tells what changed.
WHOLE = [(environment, stack) for environment, stack in EACH if environment == "prod" or stack == "pools"]


@pytest.mark.parametrize(("environment", "stack"), WHOLE)
def test_the_template_is_as_reviewed(environment: str, stack: str, template_snapshot: SnapshotAssertion) -> None:
    assert templates(environment)[stack].body == template_snapshot


@pytest.mark.parametrize(("environment", "stack"), [each for each in EACH if each not in WHOLE])
def test_nothing_else_in_the_template_changed(
    environment: str, stack: str, template_summary: SnapshotAssertion
) -> None:
    assert templates(environment)[stack].body == template_summary


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_environment_has_these_stacks_by_these_names(environment: str) -> None:
    assert {key: template.name for key, template in templates(environment).items()} == {
        stack: naming.stack_name(environment, stack) for stack in (*STACKS, *MORE.get(environment, ()))
    }


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_security_checks_find_nothing_unacknowledged(environment: str) -> None:
    stage = platform(environment)
    violations = AwsSolutionsChecks(stage).validate_scope(stage).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


@pytest.mark.parametrize(("environment", "stack"), EACH)
def test_cloudformation_would_accept_the_template(environment: str, stack: str) -> None:
    template = templates(environment)[stack]
    region = loader.load(environment).region
    assert errors(template.file.read_text(encoding="utf-8"), region) == []


@pytest.mark.parametrize(("environment", "stack"), EACH)
def test_a_stack_stays_well_under_the_limit_of_resources(environment: str, stack: str) -> None:
    assert len(templates(environment)[stack].body["Resources"]) < 400


@pytest.mark.parametrize(("environment", "stack"), EACH)
def test_no_resource_needs_code_to_be_deployed(environment: str, stack: str) -> None:
    kinds = {resource["Type"] for resource in templates(environment)[stack].body["Resources"].values()}
    assert not {kind for kind in kinds if kind.startswith("Custom::") or "CustomResource" in kind}


@pytest.mark.parametrize(("environment", "stack"), EACH)
def test_every_log_group_forgets_after_a_time(environment: str, stack: str) -> None:
    for group in templates(environment)[stack].resources("AWS::Logs::LogGroup"):
        assert group.properties["RetentionInDays"] in (7, 14, 30, 90, 365)

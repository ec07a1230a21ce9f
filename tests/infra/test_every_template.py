"""What holds for every stack of every environment."""

import pytest
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint
from cfnlint.config import ManualArgs
from syrupy.assertion import SnapshotAssertion

from environments import loader
from fleet import naming
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


@pytest.mark.parametrize(("environment", "stack"), EACH)
def test_the_template_is_as_reviewed(environment: str, stack: str, template_snapshot: SnapshotAssertion) -> None:
    assert templates(environment)[stack].body == template_snapshot


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
    matches = cfnlint.lint(template.file.read_text(encoding="utf-8"), config=ManualArgs(regions=[region]))
    assert [str(match)[:300] for match in matches if match.rule.severity == "error"] == []


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

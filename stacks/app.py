"""What `app.py` does, as a function: one environment read, composed, validated and written, or one clear refusal.

The linter of alarms and dashboards reads the templates, so that what is deployed is what was judged.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import aws_cdk as cdk
import jsii
from cdk_nag import AwsSolutionsChecks

from environments.alarm_linter import lint, of_template
from environments.alarms import around
from environments.loader import EnvironmentFileError, load
from environments.model import Environment
from fleet.diagnostics import Diagnostic
from stacks.agent_archive.archive import AgentArchiveError
from stacks.import_closure import ImportClosureError
from stacks.platform import Platform


def new_app(context: Mapping[str, object] | None = None, out: Path | None = None) -> cdk.App:
    """The app as the CDK command runs it. The command says by itself what the two arguments say for it."""
    return cdk.App(
        context=context,
        outdir=str(out) if out else None,
        stack_traces=False,
        builtin_cloud_formation_validation=False,
        post_cli_context={
            "aws:cdk:disable-creation-stack-traces": True,
            "@aws-cdk/core:failSynthOnValidationErrors": True,
        },
    )


def synthesize(app: cdk.App, read: Callable[[str | None], Environment] = load) -> None:
    """Write the assembly of the environment that the context's ``env`` names, found by ``read``.

    Raises:
        SystemExit: the file, the agent's archive or a validation refuses; its text says why.
    """
    try:
        environment = read(app.node.try_get_context("env"))
        Platform(app, environment.name, environment=environment)
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), AlarmLint(environment))
        app.synth()
    except (EnvironmentFileError, AgentArchiveError, ImportClosureError) as error:
        raise SystemExit(str(error)) from None
    except RuntimeError as error:  # as jsii hands on whatever CDK throws
        if "ValidationFailed" not in str(error):
            raise
        raise SystemExit(str(error)) from None


NAME: Final = "neuron-fleet-alarms"


@jsii.implements(cdk.IPolicyValidationPlugin)
class AlarmLint:
    """Refuses templates whose alarms or dashboards read what nobody publishes, lack a runbook or outgrow CloudWatch."""

    def __init__(self, environment: Environment) -> None:
        self._around = around(environment)

    @property
    def name(self) -> str:
        """As the report calls it."""
        return NAME

    @property
    def version(self) -> str | None:
        """It has the project's own."""
        return None

    @property
    def rule_ids(self) -> list[str] | None:
        """Codes are in the findings."""
        return None

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Judge every template of the app. Warnings and the price are `fleet validate`'s to say."""
        violations = [
            _violation(finding, path)
            for path in context.template_paths
            for finding in lint(of_template(json.loads(Path(path).read_text(encoding="utf-8"))), self._around)
            if finding.is_error
        ]
        return cdk.PolicyValidationPluginReport(success=not violations, violations=violations)


def _violation(finding: Diagnostic, template: str) -> cdk.PolicyViolation:
    place = cdk.PolicyViolatingResource(
        locations=[finding.path], resource_logical_id=finding.path, template_path=template
    )
    return cdk.PolicyViolation(
        rule_name=finding.code,
        description=f"{finding.path}: {finding.message}",
        fix=finding.fix,
        severity=finding.severity.value,
        violating_resources=[place],
    )

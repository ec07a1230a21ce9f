"""The linter of alarms and dashboards at synthesis: over the templates, so that what is deployed is what was judged."""

import json
from pathlib import Path
from typing import Final

import aws_cdk as cdk
import jsii

from environments.alarm_lint import around
from environments.alarm_linter import lint, of_template
from environments.model import Environment
from fleet.diagnostics import Diagnostic

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

"""Synthesizes one environment: ``cdk synth -c env=NAME``. Why the app is made so: docs/decisions.md."""

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from environments.loader import EnvironmentFileError, load
from stacks.agent_archive.archive import AgentArchiveError
from stacks.alarm_lint import AlarmLint
from stacks.platform import Platform

app = cdk.App(
    stack_traces=False,
    builtin_cloud_formation_validation=False,
    post_cli_context={"aws:cdk:disable-creation-stack-traces": True, "@aws-cdk/core:failSynthOnValidationErrors": True},
)
try:
    environment = load(app.node.try_get_context("env"))
    Platform(app, environment.name, environment=environment)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), AlarmLint(environment))
    app.synth()
except (EnvironmentFileError, AgentArchiveError) as error:
    raise SystemExit(str(error)) from None
except RuntimeError as error:  # as jsii hands on whatever CDK throws
    if "ValidationFailed" not in str(error):
        raise
    raise SystemExit(str(error)) from None

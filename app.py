"""Synthesizes one environment: ``cdk synth -c env=NAME``."""

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from environments.loader import EnvironmentFileError, load
from stacks.agent_archive.archive import AgentArchiveError
from stacks.platform import Platform

# Stack traces hold a temporary folder's name, and the output would differ from run to run. A finding ends the app:
# the command line would only look at the findings of the stacks that it was asked for, and `cdk synth` asks for none.
app = cdk.App(
    stack_traces=False,
    post_cli_context={"aws:cdk:disable-creation-stack-traces": True, "@aws-cdk/core:failSynthOnValidationErrors": True},
)
try:
    environment = load(app.node.try_get_context("env"))
    Platform(app, environment.name, environment=environment)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
except (EnvironmentFileError, AgentArchiveError) as error:
    raise SystemExit(str(error)) from None
except RuntimeError as error:  # as jsii hands on whatever CDK throws
    if "ValidationFailed" not in str(error):
        raise
    raise SystemExit(str(error)) from None

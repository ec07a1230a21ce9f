"""Synthesizes one environment: ``cdk synth -c env=NAME``."""

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from environments.loader import EnvironmentFileError, load
from stacks.platform import Platform

# Stack traces hold a temporary folder's name, and the output would differ from run to run.
app = cdk.App(stack_traces=False, context={"aws:cdk:disable-creation-stack-traces": True})
try:
    environment = load(app.node.try_get_context("env"))
except EnvironmentFileError as error:
    raise SystemExit(str(error)) from None

Platform(app, environment.name, environment=environment)
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
app.synth()

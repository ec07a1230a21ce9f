"""What `app.py` does, as a function: one environment read, composed, validated and written, or one clear refusal."""

from collections.abc import Callable, Mapping
from pathlib import Path

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from environments.loader import EnvironmentFileError, load
from environments.model import Environment
from stacks.agent_archive.archive import AgentArchiveError
from stacks.alarm_lint import AlarmLint
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

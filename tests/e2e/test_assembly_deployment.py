"""What tests deploy without the CDK's command line is what that would deploy."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import aws_cdk as cdk
import pytest

from environments import loader
from local.deployment import ENVIRONMENT, CdkApp
from tests.support import assembly_deployment, doctored
from tests.support.assembly_deployment import DeploymentError
from tests.support.embedded_client import client
from tests.support.needs import needs

pytestmark = needs("the CDK command line")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("assembly")
    with doctored.embedded_account(made):
        yield made


def test_the_command_line_finds_nothing_to_change(folder: Path) -> None:
    local = loader.load(ENVIRONMENT)
    # One fleet: each further one is more of the same.
    environment = local.model_copy(update={"fleets": local.inference_fleets, "budgets": None})
    doctored.deploy(environment, folder)
    CdkApp(environment, folder, dict(os.environ)).deploy()

    said = (folder / "cdk-deploy.log").read_text()
    stacks = [each["StackName"] for each in client("cloudformation").describe_stacks()["Stacks"]]
    ours = [name for name in stacks if name.startswith("neuron-fleet-local-")]
    assert len(ours) > 5
    assert [name for name in ours if f"({name}) (no changes)" not in said] == []


def test_a_stack_that_fails_says_which_resource_and_why(folder: Path) -> None:
    app = cdk.App(outdir=str(folder / "refused"))
    stack = cdk.Stack(app, "refused", env=cdk.Environment(account="000000000000", region=doctored.REGION))
    value = cdk.Fn.import_value("nothing")
    cdk.CfnResource(stack, "Name", type="AWS::SSM::Parameter", properties={"Type": "String", "Value": value})
    app.synth()

    with pytest.raises(DeploymentError, match=r"refused is ROLLBACK_COMPLETE: .*nothing"):
        assembly_deployment.deploy(folder / "refused")


def test_an_asset_lies_where_its_function_looks_for_it(folder: Path) -> None:
    """Content by name: what lies there is never published again, and never something else."""
    manifests = [json.loads(path.read_text()) for path in folder.glob("cdk.out/assembly-*/*.assets.json")]
    places = [
        (at["bucketName"], at["objectKey"])
        for manifest in manifests
        for asset in manifest["files"].values()
        for at in asset["destinations"].values()
    ]
    s3 = client("s3")
    assert places
    for bucket, key in places:
        s3.head_object(Bucket=bucket, Key=key)

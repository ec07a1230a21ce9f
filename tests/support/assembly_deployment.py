"""A synthesized assembly, deployed through CloudFormation's API alone.

The CDK's command line does the same and is used where it is what a test is about (the demo, the tutorial, a training
run, an upgrade). It costs five seconds of a core each time, which tests of what was deployed need not pay.
"""

import io
import json
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import ClientError

from tests.support.embedded_client import client

BOOTSTRAP_PARAMETER: Final = "/cdk-bootstrap/hnb659fds/version"
_NEWEST_BOOTSTRAP: Final = "999"
_PATIENCE_SECONDS: Final = 180.0
_CAPABILITIES: Final = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
_DONE: Final = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})


class DeploymentError(AssertionError):
    """A stack did not come to what its template says; the message holds the reasons that CloudFormation gives."""


def deploy(assembly: Path) -> None:
    """Publish the assets of the cloud assembly in this folder, then create or update its stacks, each after those that
    it depends on.

    Raises:
        DeploymentError: a stack failed.
    """
    for folder in _folders(assembly):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        artifacts = manifest["artifacts"]
        for artifact in artifacts.values():
            if artifact["type"] == "cdk:asset-manifest":
                _publish(folder / artifact["properties"]["file"])
        for name in _in_order(artifacts):
            properties = artifacts[name]["properties"]
            _bring(properties.get("stackName", name), properties["stackTemplateAssetObjectUrl"])


def _folders(assembly: Path) -> Iterator[Path]:
    """It and the assemblies within it that hold stacks."""
    manifest = json.loads((assembly / "manifest.json").read_text(encoding="utf-8"))
    for artifact in manifest["artifacts"].values():
        if artifact["type"] == "cdk:cloud-assembly":
            yield from _folders(assembly / artifact["properties"]["directoryName"])
    if any(artifact["type"] == "aws:cloudformation:stack" for artifact in manifest["artifacts"].values()):
        yield assembly


def _in_order(artifacts: dict[str, Any]) -> list[str]:
    ordered: list[str] = []

    def add(name: str) -> None:
        if name in ordered or artifacts[name]["type"] != "aws:cloudformation:stack":
            return
        for other in artifacts[name].get("dependencies", ()):
            add(other)
        ordered.append(name)

    for name in artifacts:
        add(name)
    return ordered


def _publish(manifest: Path) -> None:
    """Under the names that the templates ask for; what is there already has the same content."""
    s3 = client("s3")
    for asset in json.loads(manifest.read_text(encoding="utf-8"))["files"].values():
        source = manifest.parent / asset["source"]["path"]
        for at in asset["destinations"].values():
            _prepare(at["bucketName"])
            with suppress(ClientError):
                s3.head_object(Bucket=at["bucketName"], Key=at["objectKey"])
                continue
            body = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
            s3.put_object(Bucket=at["bucketName"], Key=at["objectKey"], Body=body)


def _prepare(bucket: str) -> None:
    """What bootstrapping makes and templates read: the bucket of assets, and the version that they ask for."""
    s3 = client("s3")
    with suppress(ClientError):
        s3.head_bucket(Bucket=bucket)
        return
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name})
    client("ssm").put_parameter(Name=BOOTSTRAP_PARAMETER, Value=_NEWEST_BOOTSTRAP, Type="String", Overwrite=True)


def _zipped(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    return packed.getvalue()


def _bring(stack: str, template: str) -> None:
    cloudformation = client("cloudformation")
    asked = {
        "StackName": stack,
        "TemplateURL": f"https://s3.{cloudformation.meta.region_name}.amazonaws.com/{template.removeprefix('s3://')}",
        "Capabilities": _CAPABILITIES,
    }
    try:
        if _status(cloudformation, stack) is None:
            cloudformation.create_stack(**asked)
        else:
            cloudformation.update_stack(**asked)
    except ClientError as error:
        if "No updates are to be performed" in str(error):
            return
        raise
    _wait(cloudformation, stack)


def _status(cloudformation: Any, stack: str) -> str | None:
    with suppress(ClientError):
        return str(cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])
    return None


def _wait(cloudformation: Any, stack: str) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while (status := _status(cloudformation, stack)) not in _DONE:
        if status is None or not status.endswith("_IN_PROGRESS"):
            events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
            reasons = [
                f"{each['LogicalResourceId']}: {each.get('ResourceStatusReason', each['ResourceStatus'])}"
                for each in events
                if each["ResourceStatus"].endswith("_FAILED")
            ]
            raise DeploymentError(f"{stack} is {status}: " + "; ".join(reasons))
        if time.monotonic() > until:
            raise DeploymentError(f"{stack} is {status} after {_PATIENCE_SECONDS:.0f} s")
        time.sleep(0.05)

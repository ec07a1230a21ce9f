"""The two calls of the AWS CLI that a node's installer makes, over the endpoint that the environment names.

``SANDBOX_CONFIG`` names a file of JSON: what the agent's configuration says differently on this node, which is where
paths and the metadata address are injected. Credentials are looked at by nobody in the embedded AWS.
"""

import json
import os
import sys
import urllib.request
from pathlib import Path


def call(service: str, path: str, body: "bytes | None", headers: "dict[str, str]") -> bytes:
    """The answer of one request."""
    scope = f"test/20260101/{os.environ['AWS_DEFAULT_REGION']}/{service}/aws4_request"
    signed = {"Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0", **headers}
    request = urllib.request.Request(os.environ["AWS_ENDPOINT_URL"] + path, body, signed)  # noqa: S310 - our own
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
        content: bytes = answer.read()
        return content


def parameter(name: str) -> str:
    """The value of an SSM parameter, with this node's paths where it is the agent's configuration."""
    headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "AmazonSSM.GetParameter"}
    value: str = json.loads(call("ssm", "/", json.dumps({"Name": name}).encode(), headers))["Parameter"]["Value"]
    if name == os.environ["CONFIG_PARAMETER"]:
        own = json.loads(Path(os.environ["SANDBOX_CONFIG"]).read_text(encoding="utf-8"))
        return json.dumps({**json.loads(value), **own}, sort_keys=True)
    return value


def main(arguments: "list[str]") -> int:
    """``ssm get-parameter --name NAME …`` or ``s3 cp … s3://BUCKET/KEY FILE``."""
    if arguments[:2] == ["ssm", "get-parameter"]:
        sys.stdout.write(parameter(arguments[arguments.index("--name") + 1]) + "\n")
        return 0
    if arguments[:2] == ["s3", "cp"]:
        address, file = arguments[-2:]
        Path(file).write_bytes(call("s3", address.removeprefix("s3:/"), None, {}))
        return 0
    sys.stderr.write(f"the stand-in for the AWS CLI does not know {' '.join(arguments)}\n")
    return 252


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

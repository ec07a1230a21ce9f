"""What is installed is what is imported: every package that a room imports is pinned where that room is installed."""

import re
import sys
from pathlib import Path

import pytest

from tests.support.imports import imported

ROOT = Path(__file__).parents[2]
ROOMS = {
    "fleet",
    "workload",
    "planning",
    "environments",
    "stacks",
    "dashboards",
    "agents",
    "lambdas",
    "cli",
    "local",
    "examples",
}
# Whose names differ, or which come with another.
PACKAGES = {
    "aws_cdk": "aws-cdk-lib",
    "aws_lambda_powertools": "aws-lambda-powertools",
    "botocore": "boto3",
    "cdk_nag": "cdk-nag",
    "cfnlint": "cfn-lint",
    "hypercorn": "ministack",
    "jsii": "aws-cdk-lib",
    "markdown_it": "markdown-it-py",
    "prometheus_client": "prometheus-client",
    "promql_parser": "promql-parser",
    "pydantic_core": "pydantic",
    "urllib3": "boto3",
    "yaml": "PyYAML",
}
BASE, SYNTH, LAPTOP = "requirements.txt", "requirements-synth.txt", "requirements-local.txt"


def pinned(*files: str) -> set[str]:
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in files]
    return {name for text in texts for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


@pytest.mark.parametrize(
    ("room", "files"),
    [
        ("environments", (BASE,)),
        ("fleet", ()),
        ("workload", (BASE,)),
        ("agents", ("agents/requirements.txt",)),
        ("planning", (BASE,)),
        ("cli", (BASE,)),
        ("stacks", (BASE, SYNTH)),
        ("dashboards", (BASE, SYNTH)),
        ("lambdas", (BASE, SYNTH)),
        ("local", (BASE, LAPTOP)),
    ],
)
def test_a_room_imports_only_what_is_installed_for_it(room: str, files: tuple[str, ...]) -> None:
    ours = [path for path in (ROOT / room).rglob("*.py") if not _runs_elsewhere(path.relative_to(ROOT).as_posix())]
    strangers = set().union(*map(imported, ours)) - sys.stdlib_module_names - ROOMS

    assert len(ours) > 2
    assert {PACKAGES.get(name, name) for name in strangers} <= pinned(*files)


def _runs_elsewhere(path: str) -> bool:
    return path.startswith("local/training/image/")

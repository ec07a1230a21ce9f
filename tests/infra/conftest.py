"""Snapshots of templates, without hashes of code and the version: those change with code, not with infrastructure."""

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from stacks.platform import VERSION_METADATA

HASH = re.compile(r"[0-9a-f]{64}")


class TemplateSnapshots(JSONSnapshotExtension):
    def serialize(self, data: Any, **_: Any) -> str:
        text = json.dumps(_without_version(data), indent=1, sort_keys=True)
        return HASH.sub("<hash>", text) + "\n"


def _without_version(template: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in template["Metadata"].items() if key != VERSION_METADATA}
    rest = {key: value for key, value in template.items() if key != "Metadata"}
    return {**rest, "Metadata": metadata} if metadata else rest


@pytest.fixture
def template_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TemplateSnapshots)

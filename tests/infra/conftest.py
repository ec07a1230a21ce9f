"""Snapshots of templates, in which the hashes of code are replaced: they change with code, not with infrastructure."""

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

HASH = re.compile(r"[0-9a-f]{64}")


class TemplateSnapshots(JSONSnapshotExtension):
    def serialize(self, data: Any, **_: Any) -> str:
        text = json.dumps(data, indent=1, sort_keys=True)
        return HASH.sub("<hash>", text) + "\n"


@pytest.fixture
def template_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TemplateSnapshots)

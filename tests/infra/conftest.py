"""Snapshots of templates, in which the hashes of code are replaced: they change with code, not with infrastructure."""

import hashlib
import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

HASH = re.compile(r"[0-9a-f]{64}")


class TemplateSnapshots(JSONSnapshotExtension):
    def serialize(self, data: Any, **_: Any) -> str:
        return _text(data, indent=1) + "\n"


class TemplateSummaries(JSONSnapshotExtension):
    """Every entry of a template by its name, its type and a digest of all that it says: one line for each."""

    def serialize(self, data: Any, **_: Any) -> str:
        summary = {
            section: {name: _summary(entry) for name, entry in entries.items()}
            if isinstance(entries, dict)
            else entries
            for section, entries in data.items()
        }
        return json.dumps(summary, indent=1, sort_keys=True) + "\n"


def _summary(entry: Any) -> str:
    kind = entry.get("Type", "") if isinstance(entry, dict) else ""
    return f"{kind} {hashlib.sha256(_text(entry).encode()).hexdigest()[:12]}".strip()


def _text(data: Any, indent: int | None = None) -> str:
    return HASH.sub("<hash>", json.dumps(data, indent=indent, sort_keys=True))


@pytest.fixture
def template_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TemplateSnapshots)


@pytest.fixture
def template_summary(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TemplateSummaries)

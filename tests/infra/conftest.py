"""Snapshots of templates, without hashes of code and the version: those change with code, not with infrastructure."""

import hashlib
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
        return _text(_without_version(data), indent=1) + "\n"


class TemplateSummaries(JSONSnapshotExtension):
    """Every entry of a template by its name, its type and a digest of all that it says: one line for each."""

    def serialize(self, data: Any, **_: Any) -> str:
        summary = {
            section: {name: _summary(entry) for name, entry in entries.items()}
            if isinstance(entries, dict)
            else entries
            for section, entries in _without_version(data).items()
        }
        return json.dumps(summary, indent=1, sort_keys=True) + "\n"


def _summary(entry: Any) -> str:
    kind = entry.get("Type", "") if isinstance(entry, dict) else ""
    return f"{kind} {hashlib.sha256(_text(entry).encode()).hexdigest()[:12]}".strip()


def _text(data: Any, indent: int | None = None) -> str:
    return HASH.sub("<hash>", json.dumps(data, indent=indent, sort_keys=True))


def _without_version(template: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in template["Metadata"].items() if key != VERSION_METADATA}
    rest = {key: value for key, value in template.items() if key != "Metadata"}
    return {**rest, "Metadata": metadata} if metadata else rest


@pytest.fixture
def template_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TemplateSnapshots)


@pytest.fixture
def template_summary(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TemplateSummaries)

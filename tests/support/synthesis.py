"""An environment file synthesized by what `app.py` calls, validations included, in this process."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.loader import load_file
from stacks.app import new_app, synthesize
from tests.support.templates import cdk_context


@dataclass(frozen=True)
class Synthesis:
    """What came of it: ``refusal`` is what `app.py` would print; ``templates`` are by the name of their file."""

    refusal: str | None
    templates: dict[str, dict[str, Any]]
    findings: tuple[str, ...] = ()
    """What a validation refused: rule and text."""


def synthesized(file: Path) -> Synthesis:
    """The synthesis of ``file``. What `app.py` would end with a traceback for is raised here too."""
    out = Path(tempfile.mkdtemp(prefix="cdk-"))
    try:
        app = new_app({**cdk_context(), "env": file.stem}, out)
        try:
            synthesize(app, lambda name: load_file(file.with_name(f"{name}.yaml")))
        except SystemExit as refusal:
            return Synthesis(str(refusal), {}, _findings(out))
        templates = {path.name: json.loads(path.read_text()) for path in sorted(out.rglob("*.template.json"))}
        return Synthesis(None, templates)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def _findings(out: Path) -> tuple[str, ...]:
    report = out / "validation-report.json"
    if not report.exists():
        return ()
    plugins = json.loads(report.read_text())["pluginReports"]
    return tuple(f"{found['ruleName']}: {found['description']}" for each in plugins for found in each["violations"])

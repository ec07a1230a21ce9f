"""An environment file synthesized by what `app.py` calls, validations included, in this process."""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.loader import load, load_file
from environments.model import Environment
from stacks.app import new_app, synthesize
from tests.support.templates import cdk_context


@dataclass(frozen=True)
class Synthesis:
    """What came of it: ``refusal`` is what `app.py` would print; ``templates`` are by the name of their file."""

    refusal: str | None
    templates: dict[str, dict[str, Any]]
    written: dict[str, bytes]
    """Everything in the assembly, by its path."""
    findings: tuple[str, ...] = ()
    """What a validation refused: rule and text."""


def synthesized(file: Path) -> Synthesis:
    """The synthesis of ``file``. What `app.py` would end with a traceback for is raised here too."""
    return app_run({"env": file.stem}, lambda name: load_file(file.with_name(f"{name}.yaml")))


def app_run(context: Mapping[str, object], read: Callable[[str | None], Environment] = load) -> Synthesis:
    """What `app.py` does with this context."""
    out = Path(tempfile.mkdtemp(prefix="cdk-"))
    try:
        app = new_app({**cdk_context(), **context}, out)
        try:
            synthesize(app, read)
        except SystemExit as refusal:
            return Synthesis(str(refusal), {}, contents(out), _findings(out))
        templates = {path.name: json.loads(path.read_text()) for path in sorted(out.rglob("*.template.json"))}
        return Synthesis(None, templates, contents(out))
    finally:
        shutil.rmtree(out, ignore_errors=True)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under ``folder``, by its path in there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _findings(out: Path) -> tuple[str, ...]:
    report = out / "validation-report.json"
    if not report.exists():
        return ()
    plugins = json.loads(report.read_text())["pluginReports"]
    return tuple(f"{found['ruleName']}: {found['description']}" for each in plugins for found in each["violations"])

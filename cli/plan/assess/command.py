"""`fleet plan assess`: a questionnaire in, a migration plan out."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.answers import complain, refuse
from cli.plan.assess import questionnaire
from planning.assessment.page import page
from planning.assessment.plan import MigrationPlan
from planning.assessment.plan import assess as work_out
from planning.money import PlanError


def assess(
    file: Annotated[Path, typer.Argument(help="Answers about workloads, such as examples/assessment.yaml.")],
    out: Annotated[Path | None, typer.Option(help="Write the plan here, instead of printing it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say which workloads to migrate to Neuron, in which order, and what is still to be asked; in Markdown."""
    answers = questionnaire.read(file)
    if isinstance(answers, list):
        for diagnostic in answers:
            complain(f"{file}: {diagnostic}")
        raise typer.Exit(1)
    try:
        plan = work_out(answers)
    except PlanError as error:
        refuse(f"{file}: {error}")
    text = json.dumps(as_content(plan), indent=2) + "\n" if as_json else page(plan)
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        refuse(f"{out}: cannot be written: {error.strerror}")


def as_content(plan: MigrationPlan) -> dict[str, Any]:
    """Everything, for JSON, with risks and verdicts in words."""
    return {
        "team": plan.team,
        "workloads": [
            {
                **asdict(each),
                "row": {**asdict(each.row), "risk": each.row.risk.words},
                "risk": each.risk.words,
                "verdict": each.verdict.words,
                "findings": [{**asdict(finding), "risk": finding.risk.words} for finding in each.findings],
            }
            for each in plan.assessed
        ],
    }

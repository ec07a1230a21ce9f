"""`fleet plan assess`: a questionnaire in, a migration plan out.

A questionnaire is a file: what a team knows of the workloads that it might migrate.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cli.answers import complain, refuse
from environments.explain import Vocabulary, explain
from environments.reading import read_mapping
from fleet.diagnostics import Diagnostic
from planning.assessment import workload as domain
from planning.assessment.page import page
from planning.assessment.plan import MigrationPlan
from planning.assessment.plan import assess as work_out
from planning.money import PlanError

EXAMPLE: Final = "examples/assessment.yaml"
Usd = Annotated[float, Field(gt=0, le=1e9)]
Line = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\n\r`]+$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Operators(_Part):
    """What the model calls. An answer that nobody has is left out, and asked for in the plan."""

    custom_kernels: bool | None = None
    flash_attention: bool | None = None
    quantized: bool | None = None
    sparse_tensors: bool | None = None
    all_supported: bool | None = None


class Shapes(_Part):
    """What varies between batches."""

    inputs: domain.Inputs | None = None
    control_flow_on_tensors: bool | None = None


class Workload(_Part):
    """One model in use."""

    name: Line
    kind: domain.WorkloadKind
    owner: Annotated[str, Field(max_length=80, pattern=r"^[^\n\r`]*$")] = ""
    monthly_usd: Usd | None = None
    architecture_changes: domain.Change | None = None
    months_left: Annotated[float, Field(gt=0, le=1200)] | None = None
    outputs_tested: bool | None = None
    operators: Operators = Operators()
    shapes: Shapes = Shapes()


class QuestionnaireFile(_Part):
    """All answers of a team."""

    team: Line
    engineer_week_usd: Usd | None = None
    workloads: Annotated[tuple[Workload, ...], Field(min_length=1, max_length=200)]

    def questionnaire(self) -> domain.Questionnaire:
        """As the domain has it."""
        workloads = tuple(
            domain.Workload(
                **each.model_dump(exclude={"operators", "shapes"}),
                operators=domain.Operators(**each.operators.model_dump()),
                shapes=domain.Shapes(**each.shapes.model_dump()),
            )
            for each in self.workloads
        )
        return domain.Questionnaire(self.team, workloads, self.engineer_week_usd)


VOCABULARY: Final = Vocabulary(
    QuestionnaireFile,
    {"workloads": Workload, "operators": Operators, "shapes": Shapes},
    EXAMPLE,
    {
        "kind": f"one of {', '.join(domain.WorkloadKind)}",
        "inputs": f"one of {', '.join(domain.Inputs)}",
        "architecture_changes": f"one of {', '.join(domain.Change)}",
    },
)


def read(path: Path) -> domain.Questionnaire | list[Diagnostic]:
    """The answers in ``path``, or every mistake in their form."""
    content = read_mapping(path, example=EXAMPLE)
    if isinstance(content, Diagnostic):
        return [content]
    try:
        return QuestionnaireFile.model_validate(content).questionnaire()
    except ValidationError as error:
        return explain(error, content, VOCABULARY)


def assess(
    file: Annotated[Path, typer.Argument(help="Answers about workloads, such as examples/assessment.yaml.")],
    out: Annotated[Path | None, typer.Option(help="Write the plan here, instead of printing it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say which workloads to migrate to Neuron, in which order, and what is still to be asked; in Markdown."""
    answers = read(file)
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

"""The shape of a questionnaire file: what a team knows of the workloads that it might migrate."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from environments.explain import Vocabulary, explain
from environments.reading import read_mapping
from fleet.diagnostics import Diagnostic
from planning.assessment import workload as domain

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

"""Risk, verdict, order and phases of workloads, from their answers."""

from dataclasses import replace

import pytest

from planning.assessment.page import page
from planning.assessment.plan import Assessed, Verdict, assess
from planning.assessment.workload import (
    MATRIX,
    Change,
    Inputs,
    Operators,
    Questionnaire,
    Risk,
    Shapes,
    Workload,
    WorkloadKind,
)
from planning.money import PlanError

CLEAN = Operators(
    custom_kernels=False, flash_attention=False, quantized=False, sparse_tensors=False, all_supported=True
)
STATIC = Shapes(inputs=Inputs.BUCKETED, control_flow_on_tensors=False)
ENCODER = Workload(
    "embeddings",
    WorkloadKind.ENCODER,
    monthly_usd=10_000,
    architecture_changes=Change.SELDOM,
    outputs_tested=True,
    operators=CLEAN,
    shapes=STATIC,
)


def judged(*workloads: Workload, engineer_week_usd: float | None = None) -> tuple[Assessed, ...]:
    return assess(Questionnaire("team", workloads, engineer_week_usd)).assessed


@pytest.mark.parametrize(
    ("kind", "risk", "verdict"),
    [
        (WorkloadKind.ENCODER, Risk.LOW, Verdict.START_HERE),
        (WorkloadKind.SMALL_DECODER, Risk.LOW, Verdict.START_HERE),
        (WorkloadKind.LLAMA_FINE_TUNING, Risk.LOW_TO_MEDIUM, Verdict.MIGRATE),
        (WorkloadKind.LLM_SERVING, Risk.LOW_TO_MEDIUM, Verdict.MIGRATE),
        (WorkloadKind.DIFFUSION, Risk.MEDIUM, Verdict.MIGRATE),
        (WorkloadKind.JAX, Risk.MEDIUM, Verdict.MIGRATE),
        (WorkloadKind.CUSTOM_CUDA, Risk.HIGH, Verdict.DEFER),
        (WorkloadKind.RESEARCH, Risk.HIGH, Verdict.DO_NOT_MIGRATE),
    ],
)
def test_the_matrix_decides_where_nothing_else_does(kind: WorkloadKind, risk: Risk, verdict: Verdict) -> None:
    (each,) = judged(replace(ENCODER, kind=kind))

    assert (each.risk, each.verdict) == (risk, verdict)
    assert set(MATRIX) == set(WorkloadKind)


@pytest.mark.parametrize(
    ("changes", "risk", "verdict"),
    [
        ({"operators": replace(CLEAN, custom_kernels=True)}, Risk.HIGH, Verdict.DEFER),
        ({"operators": replace(CLEAN, sparse_tensors=True)}, Risk.HIGH, Verdict.DEFER),
        ({"operators": replace(CLEAN, all_supported=False)}, Risk.HIGH, Verdict.DEFER),
        ({"operators": replace(CLEAN, quantized=True)}, Risk.HIGH, Verdict.MIGRATE),
        ({"operators": replace(CLEAN, flash_attention=True)}, Risk.MEDIUM, Verdict.MIGRATE),
        ({"shapes": replace(STATIC, inputs=Inputs.VARIABLE)}, Risk.MEDIUM, Verdict.MIGRATE),
        ({"shapes": replace(STATIC, inputs=Inputs.FIXED)}, Risk.LOW, Verdict.START_HERE),
        ({"shapes": replace(STATIC, control_flow_on_tensors=True)}, Risk.MEDIUM, Verdict.MIGRATE),
        ({"architecture_changes": Change.WEEKLY}, Risk.HIGH, Verdict.DEFER),
        ({"architecture_changes": Change.MONTHLY}, Risk.MEDIUM, Verdict.MIGRATE),
        ({"months_left": 2.5}, Risk.HIGH, Verdict.DEFER),
        ({"months_left": 3.0}, Risk.LOW, Verdict.START_HERE),
        ({"outputs_tested": False}, Risk.MEDIUM, Verdict.MIGRATE),
    ],
)
def test_an_answer_raises_the_risk_and_says_what_to_do(
    changes: dict[str, object], risk: Risk, verdict: Verdict
) -> None:
    (each,) = judged(replace(ENCODER, **changes))  # type: ignore[arg-type]  # the fields of a workload

    assert (each.risk, each.verdict) == (risk, verdict)
    assert not each.questions
    assert all(finding.what and finding.remedy for finding in each.findings)
    assert bool(each.findings) == (risk is not Risk.LOW)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        *(({"operators": replace(CLEAN, **{key: None})}, f"operators.{key}") for key in Operators.__slots__),
        ({"shapes": replace(STATIC, inputs=None)}, "shapes.inputs"),
        ({"shapes": replace(STATIC, control_flow_on_tensors=None)}, "shapes.control_flow_on_tensors"),
    ],
)
def test_what_nobody_looked_at_is_asked_and_is_no_low_risk(changes: dict[str, object], key: str) -> None:
    (each,) = judged(replace(ENCODER, **changes))  # type: ignore[arg-type]  # the fields of a workload

    assert [question.key for question in each.questions] == [key]
    assert (each.risk, each.verdict) == (Risk.MEDIUM, Verdict.ASK_FIRST)


def test_a_bill_that_nobody_knows_is_asked_for_and_is_no_risk() -> None:
    (each,) = judged(replace(ENCODER, monthly_usd=None), engineer_week_usd=5_000)

    assert [question.key for question in each.questions] == ["monthly_usd"]
    assert (each.risk, each.verdict, each.needed_saving_percent) == (Risk.LOW, Verdict.START_HERE, None)


def test_nothing_is_asked_of_what_does_not_migrate() -> None:
    (each,) = judged(Workload("ideas", WorkloadKind.RESEARCH))

    assert (each.questions, each.phases) == ((), None)


def test_the_easy_and_the_dear_come_first() -> None:
    names = [
        each.workload.name
        for each in judged(
            replace(ENCODER, name="ideas", kind=WorkloadKind.RESEARCH),
            replace(ENCODER, name="unknown", operators=Operators()),
            replace(ENCODER, name="cheap", monthly_usd=100),
            replace(ENCODER, name="images", kind=WorkloadKind.DIFFUSION, monthly_usd=90_000),
            replace(ENCODER, name="own kernels", kind=WorkloadKind.CUSTOM_CUDA),
            replace(ENCODER, name="dear"),
            replace(ENCODER, name="chat", kind=WorkloadKind.LLM_SERVING),
        )
    ]

    assert names == ["dear", "cheap", "chat", "images", "unknown", "own kernels", "ideas"]


def test_phases_follow_each_other_and_take_longer_with_more_risk() -> None:
    first, second, third = judged(
        ENCODER,
        replace(ENCODER, name="images", kind=WorkloadKind.DIFFUSION),
        replace(ENCODER, name="own kernels", kind=WorkloadKind.CUSTOM_CUDA),
    )

    assert first.phases is not None
    assert (first.phases.proof, first.phases.benchmark, first.phases.production) == ((1, 1), (2, 2), (3, 4))
    assert second.phases is not None
    assert (second.phases.proof, second.phases.production, second.phases.weeks) == ((5, 5), (7, 10), 6)
    assert third.phases is None


def test_the_saving_that_pays_in_a_year_is_worked_out() -> None:
    (each,) = judged(ENCODER, engineer_week_usd=6_000)

    # Four weeks at $6,000 against $120,000 a year.
    assert each.migration_usd == 24_000
    assert each.needed_saving_percent == pytest.approx(20)
    (small,) = judged(replace(ENCODER, monthly_usd=1_000), engineer_week_usd=6_000)
    assert "more than all of it (200 %)" in page(assess(Questionnaire("t", (small.workload,), 6_000)))


def test_the_page_is_the_same_for_the_same_answers_in_any_order() -> None:
    images = replace(ENCODER, name="images", kind=WorkloadKind.DIFFUSION)
    one, other = (page(assess(Questionnaire("t", each))) for each in ((ENCODER, images), (images, ENCODER)))

    assert one == other
    assert one.startswith("# Migration plan: t\n\n2 of 2 workloads to migrate, one after the other, in 10 weeks")


def test_a_plan_without_anything_to_migrate_has_no_phases() -> None:
    text = page(assess(Questionnaire("t", (Workload("ideas", WorkloadKind.RESEARCH),))))

    assert "## Phases" not in text
    assert "0 of 1 workloads" in text


@pytest.mark.parametrize(
    ("workloads", "message"),
    [((), "no workload to assess"), ((ENCODER, ENCODER), "2 workloads are called embeddings; give each its own name")],
)
def test_what_cannot_be_planned_is_refused(workloads: tuple[Workload, ...], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        assess(Questionnaire("t", workloads))

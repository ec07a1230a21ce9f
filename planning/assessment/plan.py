"""From answers to a plan: each workload's risk and verdict, the order, and when each phase begins."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from planning.assessment.findings import Finding, findings
from planning.assessment.questions import Question, questions
from planning.assessment.workload import MATRIX, MatrixRow, Questionnaire, Risk, Workload
from planning.money import PlanError

# Weeks, of the checklist: a proof of concept, benchmarks, then 2 to 4 weeks into production by risk.
PROOF_WEEKS: Final = 1
BENCHMARK_WEEKS: Final = 1
_PRODUCTION_WEEKS: Final = {Risk.LOW: 2, Risk.LOW_TO_MEDIUM: 3, Risk.MEDIUM: 4, Risk.HIGH: 4}
PAYBACK_MONTHS: Final = 12


class Verdict(IntEnum):
    """What to do with it, in the order of a plan."""

    START_HERE = 0
    MIGRATE = 1
    ASK_FIRST = 2
    DEFER = 3
    DO_NOT_MIGRATE = 4

    @property
    def words(self) -> str:
        """As it reads."""
        return self.name.lower().replace("_", " ")

    @property
    def is_planned(self) -> bool:
        """Whether its phases are in the plan."""
        return self < Verdict.DEFER


@dataclass(frozen=True, slots=True)
class Phases:
    """Weeks of the plan, counted from 1, first and last."""

    proof: tuple[int, int]
    benchmark: tuple[int, int]
    production: tuple[int, int]

    @property
    def weeks(self) -> int:
        """From the first to the last."""
        return self.production[1] - self.proof[0] + 1


@dataclass(frozen=True, slots=True)
class Assessed:
    """One workload, judged."""

    workload: Workload
    row: MatrixRow
    risk: Risk
    verdict: Verdict
    findings: tuple[Finding, ...]
    questions: tuple[Question, ...]
    phases: Phases | None = None
    migration_usd: float | None = None
    """Weeks of one engineer; None where either is not known."""
    needed_saving_percent: float | None = None
    """By how much its bill has to fall for the migration to be paid for in a year. Above 100: it cannot."""


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """All workloads, in the order in which to take them."""

    team: str
    assessed: tuple[Assessed, ...]

    @property
    def planned(self) -> tuple[Assessed, ...]:
        """Those with phases."""
        return tuple(each for each in self.assessed if each.phases is not None)


def assess(questionnaire: Questionnaire) -> MigrationPlan:
    """Judge every workload, order them, and lay their phases one after the other.

    Raises:
        PlanError: There is no workload, or two have one name.
    """
    names = [workload.name for workload in questionnaire.workloads]
    if not names:
        raise PlanError("no workload to assess; add one to workloads")
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"{names.count(name)} workloads are called {name}; give each its own name")
    judged = sorted((_judged(workload) for workload in questionnaire.workloads), key=_order)
    laid: list[Assessed] = []
    week = 1
    for each in judged:
        if not each.verdict.is_planned:
            laid.append(each)
            continue
        phases = _phases(each.risk, week)
        week = phases.production[1] + 1
        laid.append(_with_money(each, phases, questionnaire.engineer_week_usd))
    return MigrationPlan(questionnaire.team, tuple(laid))


def _judged(workload: Workload) -> Assessed:
    row = MATRIX[workload.kind]
    found = tuple(findings(workload))
    # Answers would change nothing about a workload that does not migrate.
    open_questions = tuple(questions(workload)) if row.migrates else ()
    risk = max([row.risk, *(finding.risk for finding in found)])
    # What nobody has looked at is no low risk; money is not one.
    if any(question.topic != "money" for question in open_questions):
        risk = max(risk, Risk.MEDIUM)
    return Assessed(workload, row, risk, _verdict(row, risk, found, open_questions), found, open_questions)


def _verdict(row: MatrixRow, risk: Risk, found: tuple[Finding, ...], asked: tuple[Question, ...]) -> Verdict:
    if not row.migrates:
        return Verdict.DO_NOT_MIGRATE
    if row.risk is Risk.HIGH or any(finding.stops for finding in found):
        return Verdict.DEFER
    if any(question.topic in {"operators", "shapes"} for question in asked):
        return Verdict.ASK_FIRST
    return Verdict.START_HERE if risk is Risk.LOW else Verdict.MIGRATE


def _order(each: Assessed) -> tuple[int, int, float, str]:
    return each.verdict, each.risk, -(each.workload.monthly_usd or 0.0), each.workload.name


def _phases(risk: Risk, week: int) -> Phases:
    benchmark = week + PROOF_WEEKS
    production = benchmark + BENCHMARK_WEEKS
    last = production + _PRODUCTION_WEEKS[risk] - 1
    return Phases((week, benchmark - 1), (benchmark, production - 1), (production, last))


def _with_money(each: Assessed, phases: Phases, engineer_week_usd: float | None) -> Assessed:
    monthly = each.workload.monthly_usd
    usd = None if engineer_week_usd is None else engineer_week_usd * phases.weeks
    needed = None if usd is None or monthly is None else 100 * usd / (PAYBACK_MONTHS * monthly)
    return Assessed(
        each.workload, each.row, each.risk, each.verdict, each.findings, each.questions, phases, usd, needed
    )

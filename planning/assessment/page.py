"""A migration plan as Markdown: the same answers make the same text."""

from collections.abc import Sequence
from typing import Final

from fleet.prices.wording import amount
from planning.assessment.plan import PAYBACK_MONTHS, Assessed, MigrationPlan, Verdict

_SOURCES: Final = (
    "Risks and phases follow the workload matrix and the checklist of the documents that `docs/source-figures.md` "
    "checks. The savings are what those documents promise, without figures behind them: measure before you budget."
)
_PHASES: Final = (
    (
        "Proof of concept",
        (
            "Stand up one instance: an inf2 to serve, a trn1 to train; `fleet plan size` says which holds the model.",
            "Compile the model with one fixed shape, to the end. Record compilation time, size and peak memory.",
            "Compare the outputs with those of the GPU on the test set: logits, not only decoded tokens.",
            "Stop here if it does not compile or the outputs differ.",
        ),
    ),
    (
        "Benchmark",
        (
            "Measure throughput and p50, p95, p99 with real requests at the batch sizes of production.",
            "Compile every bucket and measure what padding costs.",
            "Compare dollars per 1M tokens or samples: `fleet plan compare`. Go on only if it holds at today's prices.",
        ),
    ),
    (
        "Production",
        (
            "Write the environment file; `fleet validate`, `fleet plan cost` and `fleet doctor` before `cdk deploy`.",
            "Compile in a pipeline on every model version; keep artifacts by model, SDK and sequence lengths.",
            "Mirror traffic in staging and compare the outputs.",
            "Move traffic 5 → 25 → 50 → 100 %, back at once on errors or p99. Keep the GPUs for 2 to 4 weeks.",
        ),
    ),
)


def page(plan: MigrationPlan) -> str:
    """The whole plan."""
    parts = [f"# Migration plan: {plan.team}", _summary(plan), "## Order", _table(plan.assessed)]
    if plan.planned:
        parts += ["## Phases", *(_phase(number, *phase) for number, phase in enumerate(_PHASES, start=1))]
    parts += ["## Workloads", *(_workload(each) for each in plan.assessed)]
    return "\n\n".join(parts) + "\n"


def _summary(plan: MigrationPlan) -> str:
    weeks = max((each.phases.production[1] for each in plan.assessed if each.phases), default=0)
    asked = sum(len(each.questions) for each in plan.assessed)
    said = (
        f"{len(plan.planned)} of {len(plan.assessed)} workloads to migrate, one after the other, in {weeks} weeks of "
        f"one engineer. {asked} questions are open; what nobody answered counts as a risk, not as a yes."
    )
    return f"{said}\n\n{_SOURCES}"


def _table(assessed: Sequence[Assessed]) -> str:
    rows = [
        "| | workload | verdict | risk | $ a month | promised | weeks | migration | bill must fall by |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for number, each in enumerate(assessed, start=1):
        phases = each.phases
        weeks = f"{phases.proof[0]}-{phases.production[1]}" if phases else "-"
        rows.append(
            f"| {number} | {_cell(each.workload.name)} | {each.verdict.words} | {each.risk.words} | "
            f"{_dollars(each.workload.monthly_usd)} | {each.row.promised} | {weeks} | {_dollars(each.migration_usd)} | "
            f"{_needed(each)} |"
        )
    rows += ["", f"“Bill must fall by”: for the migration to be paid for in {PAYBACK_MONTHS} months."]
    return "\n".join(rows)


def _phase(number: int, title: str, steps: Sequence[str]) -> str:
    return "\n".join([f"### Phase {number}: {title}", "", *(f"- [ ] {step}" for step in steps)])


def _workload(each: Assessed) -> str:
    workload = each.workload
    owner = f", {_cell(workload.owner)}" if workload.owner else ""
    lines = [
        f"### {_cell(workload.name)}: {each.verdict.words}",
        "",
        f"{each.row.words[:1].upper()}{each.row.words[1:]}{owner}.",
    ]
    if each.phases:
        spans = (each.phases.proof, each.phases.benchmark, each.phases.production)
        names = (name.lower() for name, _ in _PHASES)
        lines[-1] += (
            " Weeks: " + ", ".join(f"{name} {_span(*span)}" for name, span in zip(names, spans, strict=True)) + "."
        )
    if each.findings:
        lines += ["", *(f"- **{finding.topic}**: {finding.what}; {finding.remedy}." for finding in each.findings)]
    if each.questions:
        asked = (f"- [ ] **{asks.topic}**: {asks.text} (`{asks.key}`: {asks.how})" for asks in each.questions)
        lines += ["", "Open questions:", "", *asked]
    if not each.findings and not each.questions and each.verdict is Verdict.START_HERE:
        lines += ["", "Nothing stands in its way."]
    return "\n".join(lines)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _dollars(usd: float | None) -> str:
    return "-" if usd is None else f"${amount(usd)}"


def _needed(each: Assessed) -> str:
    percent = each.needed_saving_percent
    if percent is None:
        return "-"
    return f"{percent:.0f} %" if percent <= 100 else f"more than all of it ({percent:.0f} %)"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

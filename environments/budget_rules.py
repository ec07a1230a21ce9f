"""What must hold of an environment's budgets."""

from collections.abc import Iterator

from environments.budgets import Budgets
from environments.fleet_entry_rules import owner_is_a_tag
from environments.model import Environment
from fleet.budgets.spending import StopMode
from fleet.diagnostics import Diagnostic, note, refuse, warn


def diagnose_budgets(environment: Environment) -> Iterator[Diagnostic]:
    """Everything that is wrong with them; nothing where the file has none."""
    budgets = environment.budgets
    if budgets is None:
        return
    yield from _owners(environment, budgets)
    yield from _stop(environment, budgets)


def _owners(environment: Environment, budgets: Budgets) -> Iterator[Diagnostic]:
    known = {environment.owner, *(fleet.owner for fleet in environment.fleets)}
    for owner in budgets.owners:
        findings = [finding.under("budgets") for finding in owner_is_a_tag(owner)]
        yield from findings
        if not findings and owner not in known:
            yield warn(
                "budget-owner-without-a-fleet",
                f"budgets.owners.{owner}",
                owner,
                f"no fleet is owned by {owner}: AWS Budgets, which sees tags and not jobs, will count nothing for it",
                f"use one of {', '.join(sorted(known))}, unless {owner} only submits jobs: our forecast sees those",
            )
    together = sum(budgets.owners.values())
    if together > budgets.monthly_usd:
        yield warn(
            "budget-owners-exceed",
            "budgets.owners",
            together,
            f"the owners may spend {together:,.2f} USD together, and the environment {budgets.monthly_usd:,.2f}",
            "raise monthly_usd, or lower theirs",
        )


def _stop(environment: Environment, budgets: Budgets) -> Iterator[Diagnostic]:
    if budgets.stop is StopMode.NEVER:
        return
    if budgets.stop is StopMode.AUTO and environment.retain_data:
        yield refuse(
            "budget-stop-unasked",
            "budgets.stop",
            budgets.stop,
            f"{environment.name} keeps its data (retain_data), so it is no playground: nothing stops there unasked",
            "use stop: ask and name budgets.approvers",
        )
    if budgets.stop is StopMode.ASK and not budgets.approvers:
        yield refuse(
            "budget-nobody-to-ask",
            "budgets.approvers",
            "",
            "stop: ask asks the approvers, and there are none",
            "name the IAM users or roles who may approve a stop, or use stop: never",
        )
    if not environment.stoppable_fleets:
        yield note(
            "budget-stops-nothing",
            "budgets.stop",
            budgets.stop,
            "no training fleet is on demand or Spot: what is reserved is paid for anyway, and endpoints never stop",
            "use stop: never",
        )

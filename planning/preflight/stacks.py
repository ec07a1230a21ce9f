"""In what state are the environment's stacks? None at all is the state before the first deployment."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fleet import naming
from fleet.diagnostics import Diagnostic, note, refuse, warn

# Of every environment; a test holds them against the stacks that are composed.
ALWAYS: Final = (
    "network", "compile-cache", "capacity", "training", "precompile", "inference", "observability", "operations",
    "capacity-watch", "prices", "ledger", "rollout", "budgets",
)  # fmt: skip
# Of an environment with a pool.
POOLS: Final = "pools"
# Of an environment with an endpoint that SageMaker runs.
HOSTED: Final = ("hosted-models", "hosted-endpoints")
# A change set that nobody has executed: there is no stack yet.
NOT_YET: Final = "REVIEW_IN_PROGRESS"
_DELETED: Final = "DELETE_COMPLETE"
_ROLLED_BACK: Final = "UPDATE_ROLLBACK_COMPLETE"


@dataclass(frozen=True, slots=True)
class StackSeen:
    """One stack: its status, and the first reason that CloudFormation gave for a failure, if it failed."""

    name: str
    status: str
    reason: str = ""

    @property
    def exists(self) -> bool:
        """Whether it was ever deployed, and not deleted since."""
        return self.status not in (NOT_YET, _DELETED)

    @property
    def has_failed(self) -> bool:
        """Whether its last deployment did not do what the template says."""
        return self.status.endswith("_FAILED") or "ROLLBACK" in self.status

    @property
    def is_settled(self) -> bool:
        """Whether nothing is going on."""
        return not self.status.endswith("_IN_PROGRESS")


def diagnose_stacks(
    environment: str,
    reserving: Collection[str],
    seen: Iterable[StackSeen],
    *,
    has_pools: bool = False,
    is_hosted: bool = False,
) -> Iterator[Diagnostic]:
    """Findings about the stacks of ``environment``; ``reserving`` are its fleets with a reservation of their own."""
    stacks = {stack.name: stack for stack in seen if stack.exists}
    if not stacks:
        text = f"environment {environment} is not deployed: what is deployed will be checked after the first deployment"
        yield note("not-deployed", "", environment, text, f"cdk deploy -c env={environment} '**'")
        return
    reservations = {naming.stack_name(environment, naming.reservation_stack(fleet)): fleet for fleet in reserving}
    prefix = naming.stack_name(environment, naming.reservation_stack(""))
    own = (*ALWAYS, *((POOLS,) if has_pools else ()), *(HOSTED if is_hosted else ()))
    wanted = [*(naming.stack_name(environment, stack) for stack in own), *reservations]
    for name in [*wanted, *sorted(set(stacks) - set(wanted))]:
        stack = stacks.get(name)
        if stack is not None and name.startswith(prefix) and name not in reservations:
            yield _orphaned(name)
        elif stack is None:
            text = f"the stack {name} is not deployed, and others are"
            yield warn("stack-not-deployed", "", name, text, f"cdk deploy -c env={environment} '**'")
        elif stack.has_failed:
            yield _failed(environment, stack, reservations.get(name))
        elif not stack.is_settled:
            yield note(
                "stack-in-progress", "", name, f"the stack {name} is {stack.status}: look again when it has ended"
            )


def _orphaned(name: str) -> Diagnostic:
    # The CDK command line deletes no stack that has left the app, and EC2 bills a reservation used or not.
    text = f"the stack {name} belongs to no fleet of the file that reserves capacity: what it holds is paid for"
    return warn("reservation-orphaned", "", name, text, f"aws cloudformation delete-stack --stack-name {name}")


def _failed(environment: str, stack: StackSeen, reserves_for: str | None) -> Diagnostic:
    why = f": {stack.reason}" if stack.reason else ""
    text = f"the stack {stack.name} is {stack.status}{why}"
    if reserves_for is not None and stack.status != _ROLLED_BACK:
        fix = "the fleet has no capacity of its own: try another zone or type, or deploy again later"
        return refuse("reservation-failed", "", stack.name, f"fleet {reserves_for} is not reserved: {text}", fix)
    if stack.status == _ROLLED_BACK:
        fix = f"it runs as before the update; correct the cause and deploy again: cdk deploy -c env={environment} '**'"
        return warn("stack-update-failed", "", stack.name, text, fix)
    if not stack.is_settled:
        return note("stack-in-progress", "", stack.name, text)
    return refuse("stack-failed", "", stack.name, text, "correct the cause and deploy again")

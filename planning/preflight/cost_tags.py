"""Does AWS count costs by the tags that budgets and the ledger's comparison look at?"""

from collections.abc import Iterator, Mapping
from typing import Final

from fleet.diagnostics import Diagnostic, warn

# Cost Management user guide, "Activating user-defined cost allocation tags": by hand, in the account that pays; up to
# 24 hours until they count, and nothing from before then.
NEEDED: Final = ("environment", "owner")
ACTIVE: Final = "Active"


def diagnose_cost_tags(seen: Mapping[str, str]) -> Iterator[Diagnostic]:
    """``seen`` are states by the tag's key; a key that nothing billed has carried yet is not there."""
    for key in NEEDED:
        if seen.get(key) != ACTIVE:
            state = f"is {seen[key].lower()}" if key in seen else "has not been seen on anything billed yet"
            yield warn(
                "cost-tag-inactive",
                "budgets",
                key,
                f"the cost allocation tag {key} {state}: AWS Budgets and Cost Explorer count nothing by it",
                "in the account that pays: aws ce update-cost-allocation-tags-status --cost-allocation-tags-status "
                f"TagKey={key},Status=Active",
            )

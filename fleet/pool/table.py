"""The item of a pool in the table of pools' jobs, for those who write it: its controller, and the budget's stop."""

from typing import Any, Final

POOL: Final = "pool"
CLOSED_BY: Final = "closed_by"
"""Its attribute that says who lets the pool start nothing; absent: it is open."""


def pool_key(fleet: str) -> dict[str, Any]:
    """The item's key."""
    return {"fleet": {"S": fleet}, "item": {"S": POOL}}

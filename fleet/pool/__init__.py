"""A training fleet that the platform runs itself: which jobs start, end and start again, and which nodes are replaced.

``decide`` compares what was seen of a pool at one moment with what its jobs want, and answers what is to be done. No
I/O and no clock: whoever looks says what it saw, and when.

What stands here is the pool's own item in the table of its jobs, for those who write it: its controller, and the
budget's stop.
"""

from typing import Any, Final

POOL: Final = "pool"
CLOSED_BY: Final = "closed_by"
"""Its attribute that says who lets the pool start nothing; absent: it is open."""


def pool_key(fleet: str) -> dict[str, Any]:
    """The item's key."""
    return {"fleet": {"S": fleet}, "item": {"S": POOL}}

"""What a simulated node is to its fleet: one of how many, what it serves, and its EFA interfaces."""

import msgspec


class FleetPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``requests_per_minute`` are this node's own, None where the fleet trains; ``efa_devices`` is 0 without EFA."""

    index: int = 0
    nodes: int = 1
    requests_per_minute: float | None = None
    efa_devices: int = 0

"""A Capacity Block's life: found, asked for, approved, bought once, used, let go of in time, accounted for.

Rules of Capacity Blocks: EC2 User Guide, "Capacity Blocks for ML". A block ends at 11:30 UTC, and EC2 begins to
terminate its instances 30 minutes earlier. It is paid in advance, and cannot be cancelled.
"""

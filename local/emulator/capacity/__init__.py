"""The capacity that the account has or lacks: reservations, Capacity Blocks, offerings, quotas, Batch's view of it."""

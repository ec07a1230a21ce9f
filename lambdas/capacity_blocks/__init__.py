"""Carries Capacity Blocks from approval to post-mortem, on events and on a clock."""

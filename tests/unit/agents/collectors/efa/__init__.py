"""EFA devices."""

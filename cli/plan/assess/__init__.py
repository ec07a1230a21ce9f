"""`fleet plan assess`: which workloads to migrate, in which order, and what to ask first."""

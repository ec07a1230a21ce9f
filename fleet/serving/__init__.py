"""What an endpoint serves and when it may: buckets of compiled graphs, readiness, and what follows from a sickness."""

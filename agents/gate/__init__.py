"""The health gate: what a node must show before it is given a job, and what it says when it cannot."""

"""A whole training run on the embedded AWS: nodes that boot, a job that is interrupted, and what it all costs."""

"""Parts that several stacks are built from; none of them knows an environment by name."""

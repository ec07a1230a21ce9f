"""One minute of a node."""

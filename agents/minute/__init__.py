"""One minute of a node: from the monitor's lines to the figures, the node's state and the batch that is published."""

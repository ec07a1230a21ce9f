"""AWS around the two sides of an endpoint: listener, services, nodes, figures, compiled graphs, executions."""

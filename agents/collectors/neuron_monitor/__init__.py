"""What the reports of neuron-monitor say about a node and its processes."""

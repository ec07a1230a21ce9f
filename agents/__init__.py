"""The node agent: owns neuron-monitor, decides what a node is doing, publishes one minute at a time."""

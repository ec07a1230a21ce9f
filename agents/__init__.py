"""The node agent: reads neuron-monitor, decides what it means, publishes one batch a minute. Runs on every node."""

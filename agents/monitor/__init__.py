"""neuron-monitor: its configuration, its process and what its lines say."""

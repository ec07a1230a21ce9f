"""neuron-monitor and its supervision."""

"""From one line of neuron-monitor to a report, or to what is left of it."""

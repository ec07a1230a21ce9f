"""The Neuron driver's tree."""

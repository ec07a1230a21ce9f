"""The Neuron compiler's cache on this node: what was compiled, what failed, which locks nobody will release."""

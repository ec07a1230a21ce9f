"""Nodes without hardware: a stand-in neuron-monitor and a virtual clock, around the production agent."""

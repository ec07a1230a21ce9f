"""How the agent gets onto a node."""

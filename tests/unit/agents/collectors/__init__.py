"""The agent's collectors."""

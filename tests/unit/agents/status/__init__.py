"""What the agent says of itself."""

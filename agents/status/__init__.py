"""What the agent knows about itself, and how ``fleet-agent status`` tells it."""

"""What the agent keeps on its disk, so that neither a crash nor an outage loses a minute."""

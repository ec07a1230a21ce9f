"""What is done to whole tiers at once: looked at, warmed up from, promoted to, cleaned."""

"""The instance's metadata."""

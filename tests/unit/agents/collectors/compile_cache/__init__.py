"""The compile cache."""

"""Checks of the source that no library brings: `make check` runs them."""

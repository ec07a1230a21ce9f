"""`fleet page`: whether pages arrive."""

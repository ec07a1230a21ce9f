"""Whose work it is."""

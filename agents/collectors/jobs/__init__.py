"""Whose work a node does."""

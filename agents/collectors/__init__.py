"""Collectors: one file for each source, from what it says to what the minute needs."""

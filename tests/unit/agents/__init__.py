"""Agents tests."""

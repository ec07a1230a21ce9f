"""Tests of checkpoints: saved whole, found, resumed, deleted."""

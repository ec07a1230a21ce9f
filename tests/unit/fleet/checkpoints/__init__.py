"""Tests of what a checkpoint is."""

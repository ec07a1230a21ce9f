"""Tests of what runs in training containers."""

"""Tests of the embedded AWS."""

"""Tests of training jobs as they are asked for."""

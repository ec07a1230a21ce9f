"""Tests of what an account is judged by."""

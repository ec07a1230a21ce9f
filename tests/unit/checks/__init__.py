"""Fleet tests."""

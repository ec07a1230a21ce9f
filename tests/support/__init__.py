"""What several tests need to make their input."""

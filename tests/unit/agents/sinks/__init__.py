"""Where batches go."""

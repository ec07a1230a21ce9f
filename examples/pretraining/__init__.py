"""Pre-training with tensor, pipeline and data parallelism."""

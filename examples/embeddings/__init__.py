"""Text embeddings of a data set, core by core."""

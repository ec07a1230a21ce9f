"""Where batches go. A sink either confirms a batch or says why not; it never stops collection."""

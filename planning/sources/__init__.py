"""The figures of published documents, worked out again: from their own inputs, and from today's catalogue."""

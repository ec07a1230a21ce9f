"""`fleet cache`: what is compiled, what is being compiled, and what stands in the way."""

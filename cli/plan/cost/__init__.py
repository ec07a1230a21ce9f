"""`fleet plan cost`: what an environment costs in a month."""

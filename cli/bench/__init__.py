"""`fleet bench`: load on an endpoint, and what it comes to in latency, tokens and dollars."""

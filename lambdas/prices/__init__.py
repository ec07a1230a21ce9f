"""Asks AWS what instance types cost, and keeps it where nodes and people read it."""

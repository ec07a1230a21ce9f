"""Looks at every pool each minute and at events: starts jobs, drains and replaces nodes, keeps its size."""

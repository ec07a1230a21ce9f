"""Prometheus: the newest minute on a port of the node, for whoever scrapes it."""

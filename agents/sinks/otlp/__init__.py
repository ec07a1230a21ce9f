"""OTLP: the series of every minute, pushed to an endpoint."""

"""One minute as named series with labels: what Prometheus and OTLP show of a node, by core, by device and by job."""

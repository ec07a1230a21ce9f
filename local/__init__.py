"""What runs on one machine only: the embedded AWS, simulated nodes, the demo, the dashboards page."""

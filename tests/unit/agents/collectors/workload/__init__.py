"""What workloads report."""

"""What several sources are read with: bounded files, counters that grow, and a memory that lasts until the boot."""

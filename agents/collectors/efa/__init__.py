"""EFA devices: what they carried, and whether a job goes around them."""

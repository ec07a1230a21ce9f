"""The domain: what a Trainium or Inferentia fleet is. Pure Python, no I/O beyond packaged data, no clock, no AWS."""

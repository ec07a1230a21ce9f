"""Where pages go, and the shape that each destination wants."""

"""The embedded AWS: ministack in one local process, with the parts that it lacks and this platform needs."""

"""One process of the fleet compiles a graph: asking, waiting, holding the lease, compiling, promoting."""

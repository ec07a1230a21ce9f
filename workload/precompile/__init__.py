"""What the job of a precompilation runs: all graphs of a model compiled, shared with the fleet, verified and archived.

Each graph is shared as soon as it is compiled. The artifact is everything or nothing: unless each graph that the trial
run came upon was compiled, there is none.
"""

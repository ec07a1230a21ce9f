"""What the job of a precompilation runs: all graphs of a model compiled, verified, shared with the fleet and archived.

Everything or nothing: unless each graph that the trial run came upon was compiled, none is shared, and there is no
artifact.
"""

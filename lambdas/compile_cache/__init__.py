"""Decides about precompilations: is an artifact there already, whose turn is it, and what came of a job."""

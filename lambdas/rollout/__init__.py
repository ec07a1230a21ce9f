"""Rollouts: one small, repeatable action for each invocation, driven by a state machine and by people's commands."""

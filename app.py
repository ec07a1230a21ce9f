"""Synthesizes one environment: ``cdk synth -c env=NAME``. Why the app is made so: docs/decisions.md."""

from stacks.app import new_app, synthesize

synthesize(new_app())

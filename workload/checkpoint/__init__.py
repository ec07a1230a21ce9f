"""Checkpoints of a training job: saved whole, found again, never resumed half. Needs no framework.

``Saver`` is what a training loop talks to; ``docs/checkpoints.md`` has the loop. A checkpoint exists when its manifest
does, and that is written last, once, and only when every rank's files are there.
"""

"""What a process that serves a model imports: its health, its figures, and a start without compilation.

``docs/serving.md`` shows how; ``examples/serving`` is a server built on it. Nothing here needs a framework.
"""

"""A serving process records requests, or answers recorded ones, beside what it answers: ``docs/shadow.md``.

``application.shadowed`` goes around an ASGI application. It finds out on which side the task runs (``task``): on the
stable one a ``recorder`` keeps a sample of what passes the ``tap``, on the candidate's a ``replay`` asks it again.
"""

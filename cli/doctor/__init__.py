"""`fleet doctor`: is the account ready for what an environment's file asks, before its first deployment and after it?

``command`` is what a person types: it asks whose credentials they are, then everything else side by side.
Each other module asks AWS one kind of question and hands what it saw to ``planning.preflight``, which judges.
Nothing is written.
"""

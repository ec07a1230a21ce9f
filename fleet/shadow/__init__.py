"""A new version of an endpoint answers again what the old one was asked, and both answers are compared.

``requests`` says what can be compared, and which requests are kept; ``sample`` how they are stored, ``places`` where;
``pace`` when each is asked again; ``equivalence`` compares two answers, ``comparison`` all of them; ``gate`` judges.
No I/O, no clock.
"""

"""Whether a fleet has the capacity that it was promised, why not, and what capacity that nobody uses costs.

``observed`` is what AWS showed, ``place`` what the fleet wants as it was deployed; ``assessment`` compares the two.
"""

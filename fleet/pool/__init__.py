"""A training fleet that the platform runs itself: which jobs start, end and start again, and which nodes are replaced.

``decide`` compares what was seen of a pool at one moment with what its jobs want, and answers what is to be done. No
I/O and no clock: whoever looks says what it saw, and when.
"""

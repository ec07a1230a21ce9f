"""A node as a folder: its own /etc, /opt, /run, /sys and /proc, in which the real user data and bootstrap run.

No container, no root and no hardware. Paths are injected; what needs root, a network or a device is a stand-in that
writes down what it was asked.
"""

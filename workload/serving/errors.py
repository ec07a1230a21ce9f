"""What can go wrong with a serving process; every message is one line."""


class ServingError(Exception):
    """The process cannot serve as it is set up."""


class RuntimeSickError(ServingError):
    """The Neuron runtime did not answer; the message says what was seen of it."""

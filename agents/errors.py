"""Everything that the agent raises on purpose; each message is one line.

::

    AgentError
    ├── ConfigError               (ValueError) the configuration file
    ├── SettingsError             neuron-monitor's settings
    ├── MonitorMissingError       (OSError) neuron-monitor itself
    ├── UnreadableLineError       (ValueError) a line of neuron-monitor
    ├── MetadataError             (OSError) instance metadata
    ├── NotAKernelLogError        (ValueError) a file that is no kernel log
    ├── MalformedLineError        (ValueError) a line of a workload
    ├── TooManyError              (ValueError) more of them than are kept
    ├── SinkError                 a batch that may be sent again
    ├── SinkRejectedError         a batch that will never be taken
    ├── StatusError               the status file
    └── GateError                 (ValueError) what the health gate judges by
"""


class AgentError(Exception):
    """The root of them."""


class ConfigError(AgentError, ValueError):
    """The configuration file cannot be used; the message names the file, the field and what is wrong."""


class SettingsError(AgentError):
    """The file cannot be written; the message names it and says why."""


class MonitorMissingError(AgentError, OSError):
    """The program is not there or cannot be started; the message names it. ``is_absent`` tells the two apart."""

    def __init__(self, message: str, *, is_absent: bool = True) -> None:
        super().__init__(message)
        self.is_absent = is_absent


class UnreadableLineError(AgentError, ValueError):
    """A line that is not a neuron-monitor report; the message says why."""


class MetadataError(AgentError, OSError):
    """The service does not answer, or not as it should; the message says what was asked and what came."""


class NotAKernelLogError(AgentError, ValueError):
    """The path is neither a character device nor a file."""


class MalformedLineError(AgentError, ValueError):
    """The line has the agent's prefix and cannot be used; the message says why."""


class TooManyError(AgentError, ValueError):
    """More jobs or ranks than one node can have."""


class SinkError(AgentError):
    """The batch was not confirmed and may be sent again; the message says why."""


class SinkRejectedError(AgentError):
    """The batch will never be taken: sending it again is useless."""


class StatusError(AgentError):
    """There is no usable status; the message names the file and what is wrong."""


class GateError(AgentError, ValueError):
    """There is nothing to hold the node against; the message says why."""

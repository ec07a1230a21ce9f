"""The heart that systemd listens to: a loop that no longer turns is killed and started again.

The protocol of ``sd_notify(3)``: one datagram for each message, to the socket that systemd names in the environment.
Without systemd every call does nothing.
"""

import os
import socket
from typing import Final

# A socket whose reader hangs must not hang the loop that it watches; seconds.
_PATIENCE: Final = 1.0
_LONGEST_STATUS: Final = 200


class Heart:
    """Tells systemd that the loop has begun, that it turns, and that it ends."""

    def __init__(self, address: str | None = None) -> None:
        """``address`` defaults to what systemd has set; an empty one means that nobody listens."""
        address = os.environ.get("NOTIFY_SOCKET", "") if address is None else address
        # systemd writes the null byte of an abstract socket's name as @.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address

    def ready(self) -> None:
        """The agent is made of all its parts: whoever started the unit may go on."""
        self._tell("READY=1")

    def beat(self) -> None:
        """The loop turns; due more often than the unit's ``WatchdogSec``."""
        self._tell("WATCHDOG=1")

    def say(self, line: str) -> None:
        """One line for ``systemctl status``."""
        self._tell(f"STATUS={' '.join(line.split())[:_LONGEST_STATUS]}")

    def stopping(self) -> None:
        """The loop has ended; from here on the unit's ``TimeoutStopSec`` counts."""
        self._tell("STOPPING=1")

    def _tell(self, message: str) -> None:
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as notify:
            notify.settimeout(_PATIENCE)
            try:
                notify.sendto(message.encode(), self._address)
            except OSError:
                # Nobody reads, which is worth no more than the beat: if it matters, systemd starts the agent again.
                return

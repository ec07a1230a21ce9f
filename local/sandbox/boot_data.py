"""What EC2 gives a node at its boot: instance metadata (IMDSv2) of all nodes on one port, and user data."""

import base64
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from local.processes import in_thread


@dataclass(slots=True)
class Metadata:
    """``items`` by instance and name below ``meta-data``; a request needs a token that was handed out."""

    items: dict[str, dict[str, str]] = field(default_factory=dict)
    url: str = ""
    _tokens: set[str] = field(default_factory=set)

    def endpoint(self, instance: str) -> str:
        """What an instance has in the place of http://169.254.169.254/latest."""
        return f"{self.url}/{instance}/latest"

    def token(self) -> str:
        """A new one."""
        token = uuid.uuid4().hex
        self._tokens.add(token)
        return token

    def answer(self, path: str, token: str) -> tuple[int, str]:
        """Status and body."""
        if token not in self._tokens:
            return 401, ""
        instance, _, item = path.strip("/").partition("/latest/meta-data/")
        found = self.items.get(instance, {}).get(item)
        return (404, "") if found is None else (200, found)


@contextmanager
def serving() -> Iterator[Metadata]:
    """The service on a free port of 127.0.0.1, until the block ends."""
    metadata = Metadata()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._send(200, metadata.token())

        def do_GET(self) -> None:
            self._send(*metadata.answer(self.path, self.headers.get("X-aws-ec2-metadata-token", "")))

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

        def _send(self, status: int, text: str) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    metadata.url = f"http://127.0.0.1:{server.server_port}"
    with in_thread(server):
        yield metadata


_SCRIPT: Final = "text/x-shellscript"
_HERE_DOCUMENT: Final = re.compile(r"<<'(\w+)'")
# What a node has of its own. A path that goes on from something else ($root/opt) is inside already.
_OWN: Final = re.compile(r"(?<![\w$}/.])/(?=(?:etc|opt|run|var/lib|usr/libexec)/)")


def scripts(user_data: str) -> list[str]:
    """The shell scripts of multipart user data, in their order, as the launch template holds it (base64).

    Raises:
        ValueError: it is not base64, or a part is not text.
    """
    message = message_from_bytes(base64.b64decode(user_data, validate=True))
    return [_text(part) for part in message.walk() if part.get_content_type() == _SCRIPT]


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        raise ValueError("a part of the user data is not text")  # noqa: TRY004 - bad content, whatever its type
    return payload.decode()


def injected(script: str, root: str) -> str:
    """The script for a node whose / is ``root``: commands are changed, the files that it writes stay as they are."""
    lines, end = [], ""
    for line in script.splitlines():
        if end:
            lines.append(line)
            end = "" if line == end else end
            continue
        lines.append(inside(line, root))
        found = _HERE_DOCUMENT.search(line)
        end = found[1] if found else ""
    return "\n".join(lines) + "\n"


def inside(text: str, root: str) -> str:
    """Absolute paths of the node's own, below ``root``."""
    return _OWN.sub(f"{root}/", text)

"""User data as cloud-init would run it, with the node's folder in front of absolute paths."""

import base64
import re
from email import message_from_bytes
from email.message import Message
from typing import Final

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

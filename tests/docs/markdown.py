"""The project's Markdown files, their links and their anchors."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
_NOT_OURS = {"node_modules", "cdk.out", "build", "dist"}
_FENCE = re.compile(r"^( *)(```+).*?^\1\2 *$", flags=re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
_ELEMENT = re.compile(r"(?:href|src|srcset)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", flags=re.MULTILINE)


def pages() -> list[Path]:
    """Every Markdown file of the project, without what is installed or built beside it."""
    rooms = (room for room in ROOT.iterdir() if room.is_dir() and room.name not in _NOT_OURS and room.name[0] != ".")
    return sorted([*ROOT.glob("*.md"), *(page for room in rooms for page in room.rglob("*.md"))])


def prose(text: str) -> str:
    """``text`` without blocks of code."""
    return _FENCE.sub("", text)


def links(page: Path) -> Iterator[tuple[str, str]]:
    """The path and the anchor of each link to a file of the project, as written; either may be empty."""
    text = prose(page.read_text(encoding="utf-8"))
    for target in (*_LINK.findall(_CODE.sub("``", text)), *_ELEMENT.findall(text)):
        if "://" not in target and not target.startswith("mailto:"):
            path, _, anchor = unquote(target).partition("#")
            yield path, anchor


def anchors(page: Path) -> set[str]:
    """What a link may name after ``#``: each heading as the repository's host makes an anchor of it."""
    found: dict[str, int] = {}
    made = set()
    for heading in _HEADING.findall(prose(page.read_text(encoding="utf-8"))):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        made.add(f"{anchor}-{found[anchor]}" if anchor in found else anchor)
        found[anchor] = found.get(anchor, 0) + 1
    return made


def target(page: Path, path: str) -> Path:
    """The file that ``path`` on ``page`` means."""
    return (page.parent / path).resolve() if path else page

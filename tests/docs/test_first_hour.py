"""The page about the first hour names findings that the commands really say."""

import re

from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/first-hour.md"
_SYMPTOM = re.compile(r"^\| (.+?) \|", flags=re.MULTILINE)
_CODE = re.compile(r"`([a-z]+(?:-[a-z]+)+)`")


def test_every_finding_that_the_page_names_exists() -> None:
    symptoms = _SYMPTOM.findall(PAGE.read_text(encoding="utf-8"))
    named = {code for symptom in symptoms for code in _CODE.findall(symptom)}
    rooms = ("fleet", "planning", "environments", "cli")
    sources = [path.read_text(encoding="utf-8") for room in rooms for path in (ROOT / room).rglob("*.py")]

    assert len(named) >= 10
    assert {code for code in named if not any(f'"{code}"' in source for source in sources)} == set()

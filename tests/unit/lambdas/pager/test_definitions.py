"""The definitions of alarms that a synthesis wrote, as the pager reads them; and none where they cannot be read."""

import json
from pathlib import Path

import pytest

from fleet.alarm_page import content
from lambdas.pager.settings import Settings
from tests.support.alarm_pages import alarm_pages
from tests.support.pager import ENVIRON, alarm_change


def test_what_a_synthesis_wrote_is_read_word_for_word(tmp_path: Path) -> None:
    file = tmp_path / "alarms.json"
    file.write_text(json.dumps(content(alarm_pages())), encoding="utf-8")

    assert Settings.load(ENVIRON, file).alarms == alarm_pages()


@pytest.mark.parametrize("text", [None, "", "{"])
def test_a_page_goes_out_in_the_alarms_own_words_where_there_are_no_definitions(
    tmp_path: Path, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "alarms.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")

    told = Settings.load(ENVIRON, file).alarm(alarm_change(AlarmDescription="Cores do nothing. Ask Kim."))

    assert (told.title, told.summary) == ("IdleAllocated", "Cores do nothing. Ask Kim.")
    assert "definitions of alarms cannot be read" in caplog.text

"""What reads the commands of a document notices whatever is printed otherwise."""

from pathlib import Path

import pytest

from tests.support.console_document import Command, commands, difference

DOCUMENT = """
```console
$ fleet validate a.yaml
…
a.yaml: valid
$ rm a.yaml
```

```
$ for reading only
```
"""


def test_commands_are_those_of_console_blocks_with_their_lines_and_outputs(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(DOCUMENT, encoding="utf-8")
    assert commands(file) == [
        Command(3, "fleet validate a.yaml", ("…", "a.yaml: valid")),
        Command(6, "rm a.yaml", ()),
    ]
    file.write_text("```console\nfleet validate\n```\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md:2: a console block begins with"):
        commands(file)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (("a.yaml: valid",), "a.yaml: valid\n"),
        (("…", "a.yaml: valid"), "a.yaml: valid\n"),
        (("…", "a.yaml: valid"), "a note\nanother\na.yaml: valid  \n"),
        (("✓ Deploy: … s", "…"), "✓ Deploy: 15 stacks 5.4 s\nmore\n"),
        ((), ""),
    ],
)
def test_what_is_printed_as_shown_is_right(shown: tuple[str, ...], printed: str) -> None:
    assert difference(shown, printed) is None


@pytest.mark.parametrize(
    ("shown", "printed", "wanted"),
    [
        (("costs $4", "so"), "costs $5\nso\n", "'costs $4' was expected"),
        (("costs $4",), "costs $4\nand more\n", "the end was expected"),
        (("costs $4", "so"), "costs $4\n", "'so' was expected"),
        (("a … s",), "a 4 m\n", "'a … s' was expected"),
        ((), "a warning\n", "the end was expected"),
    ],
)
def test_a_line_that_differs_is_missing_or_is_too_much_is_named(
    shown: tuple[str, ...], printed: str, wanted: str
) -> None:
    found = difference(shown, printed)
    assert found is not None
    assert found.startswith(wanted)

"""What becomes of texts from outside before anybody reads them."""

import pytest

from lambdas.pager.destinations.slack import escape, within
from lambdas.pager.outside_text import inert, one_line, own_words


@pytest.mark.parametrize(
    "name",
    [
        "llama-pretrain (llama-8)",
        "train_v2_final",
        "ip-10-0-1-2.us-east-2.compute.internal",
        "trn1.32xlarge and inf2.xlarge",
        "Threshold Crossed: 1 out of the last 1 datapoints [1.0 (21/11/26 03:40:00)] was less than 5 %.",
        "größe-日本語-नमस्ते",
        "4 #3 a-b -- 03:41:12",
    ],
)
def test_an_honest_text_stays_as_it_is(name: str) -> None:
    assert inert(name) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\r\n\tc\u2028d\x00e\x85f", "a b c d e f"),
        ("\u202ea\u2066b\u2069\u200b\u200d\ufeff\u00ad\ue000\U000e0041c", "abc"),
        ("\u3164\u2800\u034fx\ufe0f", "x"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 3),
        ("see https://evil.com and www.evil.co.uk", "see https: //evil[.]com and www[.]evil[.]co[.]uk"),
        ("evil\u3002com kim@example.com", "evil[.]com kim(at)example[.]com"),
        ("# x ##", "\u266f x \u266f\u266f"),
        ("> > x", "x"),
        ("---", ""),
        ("&lt; &#60; a & b", "& lt; & #60; a & b"),
        ("_it_ a_b", "\u2017it\u2017 a_b"),
    ],
)
def test_what_would_deceive_is_shown_as_what_it_is(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_a_text_is_cut_and_says_so() -> None:
    assert one_line("x" * 65, 64) == "x" * 63 + "…"
    assert one_line("x" * 64, 64) == "x" * 64


def test_an_operators_words_keep_their_link_and_their_code() -> None:
    words = "Ask *Kim* at https://kim.example: `fleet status <fleet>`."

    assert own_words(words) == "Ask \u2217Kim\u2217 at https://kim.example: `fleet status <fleet>`."


def test_a_long_line_is_cut_so_that_the_short_ones_stay_whole() -> None:
    long, short = escape("&" * 4000), "*Money:* $5.00 an hour wasted"

    fitted = within([long, short, long], 2900)

    assert fitted[1] == short
    assert len("\n".join(fitted)) <= 2900
    assert min(map(len, fitted[::2])) > 1400
    assert fitted[0].removesuffix("…").replace("&amp;", "") == ""


def test_a_name_that_only_looks_internal_is_no_link() -> None:
    assert inert("a.internal.evil.com") == "a.internal[.]evil[.]com"

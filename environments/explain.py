"""Pydantic's findings in the words of somebody who edits the file: the path as written, the value, what is right."""

import re
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from environments.vocabulary import ENVIRONMENT, KINDS, Vocabulary
from fleet.diagnostics import DID_YOU_MEAN, Diagnostic, did_you_mean, nearest, refuse
from fleet.regions import REGIONS

__all__ = ["ENVIRONMENT", "Vocabulary", "explain"]

_CHOICES: Final = frozenset({"enum", "literal_error"})


def explain(error: ValidationError, written: object, vocabulary: Vocabulary = ENVIRONMENT) -> list[Diagnostic]:
    """Pydantic's errors as diagnostics; ``written`` is the file's content, as read.

    A misspelt key is both an unknown key and a missing one: it is reported once, as the unknown key.
    """
    found = [_explain_one(detail, written, vocabulary) for detail in error.errors(include_url=False)]
    meant = {
        f"{diagnostic.path.rpartition('.')[0]}.{diagnostic.fix.removeprefix(DID_YOU_MEAN).rstrip('?')}"
        for diagnostic in found
        if diagnostic.code == "unknown-key" and diagnostic.fix.startswith(DID_YOU_MEAN)
    }
    return [d for d in found if not (_is_said_by(d, meant) or _counts_only_the_good(d, found))]


def _is_said_by(missing: Diagnostic, meant: set[str]) -> bool:
    return missing.code == "missing-key" and (missing.path in meant or f".{missing.path}" in meant)


def _counts_only_the_good(too_short: Diagnostic, found: list[Diagnostic]) -> bool:
    # Pydantic calls a list empty when every item of it was refused.
    return too_short.code == "invalid-too-short" and any(d.path.startswith(f"{too_short.path}[") for d in found)


def _explain_one(error: ErrorDetails, written: object, known: Vocabulary) -> Diagnostic:
    location = error["loc"]
    path = _path(location, written, known)
    key = _key(location)
    # One code for a value that is none of several, however the model names them.
    kind = "literal_error" if error["type"] in _CHOICES else error["type"]
    code = f"invalid-{kind.replace('_', '-')}"
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return refuse("unknown-key", path, key, "unknown key", _nearest_key(key, location, known))
        case "missing":
            return refuse("missing-key", path, "", "missing", _form(key, known))
        case "union_tag_not_found":
            return _without_kind(path, _unquoted(context["discriminator"]), error["input"], known)
        case "union_tag_invalid":
            return _unknown_kind(path, context)
        case _:
            fix = _allowed(error, key, known)
            return refuse(code, path, _plain(error["input"]), f"{_quoted(error['input'])} is not allowed", fix)


def _allowed(error: ErrorDetails, key: str, known: Vocabulary) -> str:
    written = error["input"]
    if isinstance(written, str) and error["type"] in _CHOICES:
        choices = re.findall(r"'([^']+)'", error["ctx"]["expected"])
        return did_you_mean(written, choices, f"it must be one of {', '.join(choices)}")
    if isinstance(written, str) and key == "region" and key in known.forms:
        return did_you_mean(written, sorted(REGIONS), _form(key, known))
    return _form(key, known) if key in known.forms else _lower(error["msg"])


def _without_kind(path: str, key: str, written: object, known: Vocabulary) -> Diagnostic:
    """A part that does not say of which kind it is; its key may be mistyped."""
    fields = {name for part in known.parts.values() for name in part.model_fields} | {key}
    for other in written if isinstance(written, dict) else ():
        if isinstance(other, str) and other not in fields and nearest(other, sorted(fields)) == key:
            return refuse("unknown-key", f"{path}.{other}", other, "unknown key", f"{DID_YOU_MEAN}{key}?")
    return refuse("missing-key", f"{path}.{key}", "", "missing", _form(key, known, f"{path}.{key}"))


def _key(location: tuple[int | str, ...]) -> str:
    if location and isinstance(location[-1], int):
        return f"{_key(location[:-1])}[]"
    return str(location[-1]) if location else ""


def _form(key: str, known: Vocabulary, path: str = "") -> str:
    if key in known.forms:
        return f"it must be {known.forms[key]}"
    place = re.sub(r"\[\d+\]", "[]", path)
    kinds = next((kinds for end, kinds in KINDS.items() if place.endswith(end)), None)
    return f"it must be one of {', '.join(kinds)}" if kinds else f"add {key}, as in {known.example}"


def _quoted(value: object) -> str:
    return repr(value) if isinstance(value, str) else _plain(value)


def _plain(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _unknown_kind(path: str, context: dict[str, Any]) -> Diagnostic:
    known = [_unquoted(tag) for tag in context["expected_tags"].split(", ")]
    tag = str(context["tag"])
    fix = did_you_mean(tag, known, f"it must be one of {', '.join(known)}")
    return refuse("unknown-kind", f"{path}.{_unquoted(context['discriminator'])}", tag, f"{tag!r} is not allowed", fix)


def _nearest_key(key: str, location: tuple[int | str, ...], vocabulary: Vocabulary) -> str:
    # A key that its author chose, such as an alarm's, leads to no model of its own.
    names = [part for part in location[:-1] if isinstance(part, str) and part in vocabulary.parts]
    known = list((vocabulary.parts[names[-1]] if names else vocabulary.root).model_fields)
    return did_you_mean(key, known, f"known keys: {', '.join(known)}")


def _path(location: tuple[int | str, ...], written: object, known: Vocabulary) -> str:
    """The location as the file's author sees it: without the tags of unions, which are not keys in the file."""
    path = ""
    for index, part in enumerate(location):
        if isinstance(part, int):
            path += f"[{part}]"
            written = written[part] if isinstance(written, list) and part < len(written) else None
            continue
        is_key = isinstance(written, dict) and part in written
        if not is_key and part in known.parts and index + 1 < len(location):
            continue
        path += f".{part}" if path else part
        written = written[part] if isinstance(written, dict) and is_key else None
    return path


def _unquoted(text: str) -> str:
    return text.strip("'")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]

"""The query protocols, EC2's and the older services', read and written by botocore's own models.

So an operation is a function from a request to an answer, both as boto3 shows them, and cannot misspell a member.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from xml.sax.saxutils import escape

from botocore.model import ListShape, OperationModel, Shape, StructureShape
from botocore.utils import parse_timestamp

from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest, service_model

Operation = Callable[[dict[str, Any]], dict[str, Any]]
Form = Mapping[str, Any]
_FORM_HEADERS: Final = {"content-type": "application/x-www-form-urlencoded"}


def served(service: str, operation: str, serve: Operation) -> Callable[[Form], Response]:
    """``serve`` behind the wire: a form in, XML out; ``AwsError`` in the service's own shape."""

    def handle(form: Form) -> Response:
        model = service_model(service).operation_model(operation)
        flat = {name: value[0] if isinstance(value, list) else str(value) for name, value in form.items()}
        try:
            content = serve(_read(model.input_shape, flat, "", _reader(service)) or {})
        except AwsError as error:
            return answer(error, service, ApiRequest("POST", "/", _FORM_HEADERS, b"", {}))
        return 200, {"Content-Type": "text/xml"}, _document(model, content, service).encode()

    return handle


def _reader(service: str) -> Callable[[Shape, str], str]:
    """How the member of a request is called in the form: EC2 capitalizes what it calls the member in XML."""

    def ec2(shape: Shape, name: str) -> str:
        wire = shape.serialization.get("name", name)
        return str(shape.serialization.get("queryName") or wire[:1].upper() + wire[1:])

    def query(shape: Shape, name: str) -> str:
        return str(shape.serialization.get("name", name))

    return ec2 if service == "ec2" else query


def _read(shape: Shape | None, form: Mapping[str, str], path: str, named: Callable[[Shape, str], str]) -> Any:  # noqa: ANN401 - what the shape says
    """The value at ``path`` of the form, or None when the form has none."""
    dot = f"{path}." if path else ""
    if isinstance(shape, StructureShape):
        found = {name: _read(each, form, dot + named(each, name), named) for name, each in shape.members.items()}
        return {name: value for name, value in found.items() if value is not None} or None
    if isinstance(shape, ListShape):
        items = []
        for prefix in (path, f"{path}.{shape.member.serialization.get('name', 'member')}"):
            number = 1
            while (item := _read(shape.member, form, f"{prefix}.{number}", named)) is not None:
                items.append(item)
                number += 1
        return items or None
    text = form.get(path)
    return None if text is None or shape is None else _scalar(shape, text, path)


def _scalar(shape: Shape, text: str, path: str) -> object:
    try:
        if shape.type_name in ("integer", "long"):
            return int(text)
        if shape.type_name in ("float", "double"):
            return float(text)
        if shape.type_name == "timestamp":
            return parse_timestamp(text)
    except ValueError as error:
        raise AwsError("InvalidParameterValue", f"Invalid value '{text}' for {path}") from error
    return text == "true" if shape.type_name == "boolean" else text


def _document(model: OperationModel, content: Mapping[str, Any], service: str) -> str:
    shape = model.output_shape
    inner = _members(shape, content) if isinstance(shape, StructureShape) else ""
    namespace = model.service_model.metadata.get("xmlNamespace", "")
    if shape is not None and "resultWrapper" in shape.serialization:
        wrapper = shape.serialization["resultWrapper"]
        inner = f"<{wrapper}>{inner}</{wrapper}>"
    if service == "ec2":
        inner += "<requestId>00000000-0000-4000-8000-000000000000</requestId>"
    return f'<{model.name}Response xmlns="{namespace}">{inner}</{model.name}Response>'


def _members(shape: StructureShape, content: Mapping[str, Any]) -> str:
    unknown = set(content) - set(shape.members)
    if unknown:
        raise KeyError(f"{shape.name} has no {', '.join(sorted(unknown))}")
    present = {name: value for name, value in content.items() if value is not None}
    return "".join(_element(shape.members[name], name, value) for name, value in present.items())


def _element(shape: Shape, name: str, value: Any) -> str:  # noqa: ANN401 - what the shape says
    tag = shape.serialization.get("name", name)
    if isinstance(shape, StructureShape):
        inner = _members(shape, value)
    elif isinstance(shape, ListShape):
        item = shape.member.serialization.get("name", "member")
        each = [_element(shape.member, item, one) for one in value]
        if shape.serialization.get("flattened"):
            return "".join(each)
        inner = "".join(each)
    else:
        inner = escape(_text(value))
    return f"<{tag}>{inner}</{tag}>"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
    return str(value)

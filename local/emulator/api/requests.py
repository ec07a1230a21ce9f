"""Which operation a request asks for, with which parameters: the same for every protocol that AWS speaks."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qs

import botocore.session
from botocore.exceptions import UnknownServiceError
from botocore.model import ServiceModel

_LABEL: Final = re.compile(r"\\\{\w+(\\\+)?\\\}")


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request; ``parameters`` are flat: ``Filter.1.Name`` of a form, ``computeResources.minvCpus`` of JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: Mapping[str, Any]

    @property
    def is_form(self) -> bool:
        """Whether it speaks a query protocol: the action and its parameters are a form."""
        return self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")

    @property
    def target(self) -> str:
        """The operation that an AWS JSON request names in its header; empty in the other protocols."""
        return self.headers.get("x-amz-target", "").rpartition(".")[2]

    def operation(self, service: ServiceModel) -> str:
        """The name of the operation, empty when the service has none at this address."""
        if self.target:
            return self.target
        if self.is_form:
            return self.parameters().get("Action", "")
        for name, method, pattern in rest_operations(service.service_name):
            if method == self.method and re.fullmatch(pattern, self.path.rstrip("/") or "/"):
                return name
        return ""

    def parameters(self) -> dict[str, str]:
        """Every parameter by its dotted name, as text."""
        flat = {name: values[0] for name, values in self.query.items() if values}
        if self.is_form:
            form = parse_qs(self.body.decode(errors="replace"), keep_blank_values=True)
            return flat | {name: values[0] for name, values in form.items()}
        try:
            return flat | dict(flattened(json.loads(self.body)))
        except ValueError:
            return flat


def flattened(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """``{"A": [{"B": True}]}`` is ``A.1.B = true``: list items count from 1, as in AWS's query protocols."""
    prefix = f"{path}." if path else ""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from flattened(item, f"{prefix}{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield from flattened(item, f"{prefix}{number}")
    elif path:
        yield path, json.dumps(value) if isinstance(value, bool) else str(value)


@cache
def service_model(name: str) -> ServiceModel:
    """botocore's model of a service.

    Raises:
        ValueError: AWS has no service of this name.
    """
    try:
        return botocore.session.get_session().get_service_model(name)
    except UnknownServiceError as error:
        raise ValueError(f"{name}: not the name of an AWS service's client, such as ec2 or service-quotas") from error


@cache
def rest_operations(service: str) -> list[tuple[str, str, str]]:
    """Name, method and path pattern of a REST service's operations, those with the fewest labels first."""
    model = service_model(service)
    found = []
    for name in model.operation_names:
        http = model.operation_model(name).http
        path = re.escape(http["requestUri"].split("?")[0].rstrip("/") or "/")
        pattern = _LABEL.sub(lambda label: ".+" if label[1] else "[^/]+", path)
        found.append((name, str(http["method"]), pattern))
    return sorted(found, key=lambda each: each[2].count("[^/]+") + 10 * each[2].count(".+"))

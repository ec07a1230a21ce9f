"""Stand-ins for boto3's clients, held against AWS's own service models: what AWS does not know fails.

What Stubber does for recorded answers, for stand-ins that compute theirs.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.model import OperationModel, ServiceModel
from botocore.paginate import Paginator, PaginatorModel
from botocore.validate import ParamValidator

_VALID: set[tuple[str, str, str, str]] = set()


class ClientShapeError(AssertionError):
    """A request or an answer that the service does not have."""


def shaped(service: str, stand_in: object) -> Any:
    """``stand_in`` as boto3's client of ``service``; the service's model validates each request and answer."""
    return _Shaped(service, stand_in)


class _Shaped:
    def __init__(self, service: str, stand_in: object) -> None:
        self._service, self._stand_in = service, stand_in

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self._stand_in, name)
        operation = _operations(self._service).get(name)
        return answer if operation is None else _validated(operation, answer)

    def get_paginator(self, name: str) -> Any:
        """boto3's own paginator, over the stand-in's pages."""
        operation = _operations(self._service)[name]
        return Paginator(getattr(self, name), _paginators(self._service).get_paginator(operation.name), operation)


def _validated(operation: OperationModel, answer: Callable[..., object]) -> Callable[..., object]:
    def call(**request: object) -> object:
        _check(operation, "request", request, operation.input_shape)
        answered = answer(**request)
        known = (
            {key: value for key, value in answered.items() if key != "ResponseMetadata"}
            if isinstance(answered, dict)
            else {}
        )
        _check(operation, "answer", known, operation.output_shape)
        return answered

    return call


def _check(operation: OperationModel, what: str, given: Mapping[str, Any], shape: Any) -> None:
    if shape is None:
        if given:
            raise ClientShapeError(f"{operation.name} has no {what}, and was given {given}")
        return
    # Thousands of a test's calls are alike.
    key = (operation.service_model.service_name, operation.name, what, repr(given))
    if key in _VALID:
        return
    report = ParamValidator().validate(given, shape)
    if report.has_errors():
        raise ClientShapeError(f"{operation.name}: the {what} {given}: {report.generate_report()}")
    _VALID.add(key)


@cache
def _operations(service: str) -> dict[str, OperationModel]:
    model = _model(service)
    return {xform_name(name): model.operation_model(name) for name in model.operation_names}


@cache
def _model(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


@cache
def _paginators(service: str) -> PaginatorModel:
    return botocore.session.get_session().get_paginator_model(service)

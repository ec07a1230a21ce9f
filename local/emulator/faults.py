"""Failures that somebody injects: calls that AWS answers with an error, resource types that cannot be made."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from local.emulator.api.errors import AwsError
from local.emulator.api.requests import flattened, service_model

_SHAPE: Final = '{"call": …, "match": {…}, "error": {"code": …, "message": …}}'


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure. ``call`` is a CloudFormation type or "service:Operation", with the service's boto3 client name.

    ``match`` narrows it: every named parameter has this value. Names are dotted (``computeResources.minvCpus``,
    ``Filter.1.Name``), as the request or the template spells them; a resource also has ``StackName`` and
    ``LogicalResourceId``.
    """

    call: str
    match: Mapping[str, str]
    code: str
    message: str

    @classmethod
    def of(cls, given: object, resource_types: Collection[str]) -> "Fault":
        """Check one fault as JSON gave it.

        Raises:
            ValueError: another shape, or a call that nothing here can make.
        """
        if not isinstance(given, Mapping) or set(given) - {"match"} != {"call", "error"}:
            raise ValueError(f"faults: {given!r} is not {_SHAPE}")
        call, error, match = given["call"], given["error"], given.get("match", {})
        if not isinstance(error, Mapping) or set(error) != {"code", "message"} or not isinstance(match, Mapping):
            raise ValueError(f"faults: {given!r} is not {_SHAPE}")
        if "::" in str(call):
            if call not in resource_types:
                raise ValueError(f"faults: {call}: no stack can hold a resource of this type")
        else:
            _check_operation(str(call))
        return cls(str(call), dict(flattened(match)), str(error["code"]), str(error["message"]))

    def as_json(self) -> dict[str, Any]:
        """The fault as it was given."""
        return {"call": self.call, "match": self.match, "error": {"code": self.code, "message": self.message}}


def _check_operation(call: str) -> None:
    service, colon, operation = call.partition(":")
    if not colon:
        raise ValueError(f"faults: {call}: neither service:Operation nor a resource type")
    if operation not in service_model(service).operation_names:
        raise ValueError(f"faults: {call}: the client {service} has no operation {operation}")


class FaultStore:
    """The faults that are injected now; the first that matches is the one that happens."""

    def __init__(self) -> None:
        self._faults: tuple[Fault, ...] = ()

    def replace(self, faults: Sequence[Fault]) -> None:
        """Inject these and remove all others."""
        self._faults = tuple(faults)

    def all(self) -> tuple[Fault, ...]:
        """What is injected."""
        return self._faults

    def services(self, endpoint: str) -> list[str]:
        """The client names with a fault whose requests arrive at this endpoint prefix or signing name."""
        names = dict.fromkeys(fault.call.partition(":")[0] for fault in self._faults if "::" not in fault.call)
        return [name for name in names if endpoint in _addresses(name)]

    def check(self, call: str, parameters: Mapping[str, str]) -> None:
        """Return, or raise the ``AwsError`` of the fault that is injected on this call."""
        for fault in self._faults:
            if fault.call == call and fault.match.items() <= parameters.items():
                raise AwsError(fault.code, fault.message)

    def check_resource(self, type_name: str, properties: object, stack: str, logical_id: str) -> None:
        """Return, or raise ``RuntimeError`` with the reason that CloudFormation gives when a resource fails."""
        parameters = dict(flattened(properties)) | {"StackName": stack, "LogicalResourceId": logical_id}
        try:
            self.check(type_name, parameters)
        except AwsError as error:
            raise RuntimeError(_handler_message(type_name, error)) from error


def _addresses(name: str) -> set[str]:
    model = service_model(name)
    return {name, model.endpoint_prefix, model.signing_name}


def _handler_message(type_name: str, error: AwsError) -> str:
    """The form in which a registry type's handler passes on what the service answered."""
    service = type_name.split("::")[1]
    cause = f"Service: {service}; Status Code: {error.status}; Error Code: {error.code}; Request ID: {uuid.uuid4()}"
    return (
        f'Resource handler returned message: "{error.message} ({cause})"'
        f" (RequestToken: {uuid.uuid4()}, HandlerErrorCode: GeneralServiceException)"
    )

"""The refusals of the CloudWatch API, by the codes that its clients see."""


class ApiError(Exception):
    """A request that CloudWatch would refuse; ``code`` is the error code a client reads."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


def invalid(message: str) -> ApiError:
    """A parameter with a value out of its limits."""
    return ApiError("InvalidParameterValue", message)


def missing(parameter: str) -> ApiError:
    """A parameter that must be there."""
    return ApiError("MissingParameter", f"The parameter {parameter} is required.")


def validation(message: str) -> ApiError:
    """An alarm or query that does not make sense as a whole."""
    return ApiError("ValidationError", message)

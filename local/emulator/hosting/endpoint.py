"""One endpoint: its variants, and the one change that is under way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from local.emulator.api.errors import AwsError

Entry = dict[str, Any]
ComesUp = Callable[[Mapping[str, Any]], bool]
_UNDER_WAY: Final = ("Creating", "Updating")


@dataclass(slots=True)
class Endpoint:
    """``serves`` are the variants as DescribeEndpoint shows them; ``coming`` those of a configuration under way."""

    name: str
    arn: str
    configuration: str
    status: str = "Creating"
    failure: str = ""
    serves: list[Entry] = field(default_factory=list)
    coming: tuple[str, list[Entry]] | None = None
    until: float = 0.0

    def settle(self, now: float, comes_up: ComesUp) -> None:
        """End what is under way, if its time has come."""
        if self.status not in _UNDER_WAY or now < self.until:
            return
        is_first, self.status = self.status == "Creating", "InService"
        if self.coming is not None:
            self._take(*self.coming, is_first=is_first, comes_up=comes_up)
            self.coming = None
        for each in self.serves:
            each |= {"CurrentWeight": each["DesiredWeight"], "CurrentInstanceCount": each["DesiredInstanceCount"]}

    def _take(self, configuration: str, variants: list[Entry], *, is_first: bool, comes_up: ComesUp) -> None:
        sick = [each["VariantName"] for each in variants if not comes_up(each)]
        if not sick:
            self.configuration, self.failure = configuration, ""
            self.serves = [_serving(each) for each in variants]
            return
        # It goes on as before and says that it is in service: only the reason, and what serves, tell of it.
        self.failure = f"The primary container for production variant {sick[0]} did not pass the ping health check."
        self.status = "Failed" if is_first else "InService"

    def begin(self, now: float, seconds: float, coming: tuple[str, list[Entry]] | None = None) -> None:
        """Put a change under way.

        Raises:
            AwsError: there is one already.
        """
        if self.status != "InService":
            raise AwsError("ValidationException", f'Cannot update in-progress endpoint "{self.arn}".')
        self.status, self.coming, self.until = "Updating", coming, now + seconds

    def described(self) -> Entry:
        """DescribeEndpoint."""
        pending = {"PendingDeploymentSummary": {"EndpointConfigName": self.coming[0]}} if self.coming else {}
        reason = {"FailureReason": self.failure} if self.failure else {}
        return {
            "EndpointName": self.name,
            "EndpointArn": self.arn,
            "EndpointConfigName": self.configuration,
            "EndpointStatus": self.status,
            "ProductionVariants": [dict(each) for each in self.serves],
            "CreationTime": 0,
            "LastModifiedTime": 0,
            **pending,
            **reason,
        }


def _serving(variant: Mapping[str, Any]) -> Entry:
    weight, count = variant.get("InitialVariantWeight", 1.0), variant["InitialInstanceCount"]
    return {
        "VariantName": variant["VariantName"],
        "DesiredWeight": weight,
        "CurrentWeight": weight,
        "DesiredInstanceCount": count,
        "CurrentInstanceCount": count,
    }

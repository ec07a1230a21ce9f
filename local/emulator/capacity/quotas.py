"""Service Quotas: EC2's limits in vCPUs for the domain's instance families, generous until somebody seeds less."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fleet.instances import quota_names
from local.emulator.api.answers import Entry, page
from local.emulator.api.errors import AwsError

_GENEROUS_VCPUS: Final = 100_000.0
_SERVICE: Final = "ec2"
NAMES: Final = quota_names()


@dataclass(slots=True)
class Quotas:
    """The quotas of one account, by region."""

    account: str
    _seeded: dict[tuple[str, str], float] = field(default_factory=dict)

    def seed(self, region: str, code: str, value: float) -> Entry:
        """Set a quota, in vCPUs.

        Raises:
            AwsError: EC2 has no such quota here.
        """
        self._entry(region, code)
        self._seeded[region, code] = value
        return self._entry(region, code)

    def list(self, region: str, request: Mapping[str, Any]) -> Entry:
        """ListServiceQuotas; every service but EC2 has none."""
        codes = NAMES if request.get("ServiceCode") == _SERVICE else {}
        entries, more = page([self._entry(region, code) for code in codes], request)
        return {"Quotas": entries, **more}

    def get(self, region: str, request: Mapping[str, Any]) -> Entry:
        """GetServiceQuota."""
        service, code = request.get("ServiceCode"), str(request.get("QuotaCode", ""))
        if service != _SERVICE:
            raise AwsError("NoSuchResourceException", f"The service {service} has no quota {code}.")
        return {"Quota": self._entry(region, code)}

    def _entry(self, region: str, code: str) -> Entry:
        if code not in NAMES:
            raise AwsError("NoSuchResourceException", f"The service {_SERVICE} has no quota {code}.")
        return {
            "ServiceCode": _SERVICE,
            "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
            "QuotaArn": f"arn:aws:servicequotas:{region}:{self.account}:ec2/{code}",
            "QuotaCode": code,
            "QuotaName": NAMES[code],
            "Value": self._seeded.get((region, code), _GENEROUS_VCPUS),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
        }

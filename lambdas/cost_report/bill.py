"""The bill by Cost Explorer: what the environment's instances cost a day, and what CloudWatch does.

GetCostAndUsage is billed at $0.01 a request; three requests for all days at once. Amounts are unblended, before the
record types are told apart. Source: API reference "GetCostAndUsage"; pricing page "AWS Cost Explorer".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_ce import CostExplorerClient
    from mypy_boto3_ce.type_defs import (
        ExpressionTypeDef,
        GetCostAndUsageRequestTypeDef,
        GetCostAndUsageResponseTypeDef,
        GroupDefinitionTypeDef,
        MetricValueTypeDef,
        ResultByTimeTypeDef,
    )

_METRIC: Final = "UnblendedCost"
_COMPUTE: Final = "Amazon Elastic Compute Cloud - Compute"
_CLOUDWATCH: Final = "AmazonCloudWatch"
_MOST_PAGES: Final = 20


class BillUnavailableError(Exception):
    """Cost Explorer does not answer, or is not switched on; the message is one line."""


@dataclass(frozen=True, slots=True)
class Billed:
    """A day as AWS bills it, USD. ``by_record_type`` are the instances' charges, credits and Savings Plans."""

    by_record_type: Mapping[str, float]
    cloudwatch: float
    cloudwatch_account: float
    is_estimate: bool


class CostExplorer:
    """The days of one environment, known by its tag, and of its fleets' instance types."""

    def __init__(self, client: "CostExplorerClient", environment: str, instance_types: Sequence[str]) -> None:
        self._client = client
        self._tag: ExpressionTypeDef = {"Tags": {"Key": "environment", "Values": [environment]}}
        self._types = list(instance_types)

    def of(self, first: date, end: date) -> Mapping[date, Billed]:
        """The days from ``first`` to the one before ``end``; those that Cost Explorer does not list are not there."""
        service: ExpressionTypeDef = {"Dimensions": {"Key": "SERVICE", "Values": [_CLOUDWATCH]}}
        nodes: list[ExpressionTypeDef] = [
            self._tag,
            {"Dimensions": {"Key": "SERVICE", "Values": [_COMPUTE]}},
            {"Dimensions": {"Key": "INSTANCE_TYPE", "Values": self._types}},
        ]
        by_type: list[GroupDefinitionTypeDef] = [{"Type": "DIMENSION", "Key": "RECORD_TYPE"}]
        try:
            instances = self._days(first, end, {"And": nodes}, by_type)
            tagged = self._days(first, end, {"And": [self._tag, service]})
            account = self._days(first, end, service)
            return {
                day: Billed(
                    by_record_type={
                        group["Keys"][0]: _usd(group["Metrics"]) for entry in entries for group in entry["Groups"]
                    },
                    cloudwatch=sum(_usd(entry["Total"]) for entry in tagged.get(day, ())),
                    cloudwatch_account=sum(_usd(entry["Total"]) for entry in account.get(day, ())),
                    is_estimate=any(entry.get("Estimated", True) for entry in entries),
                )
                for day, entries in instances.items()
            }
        except (BotoCoreError, ClientError) as error:
            raise BillUnavailableError(f"{type(error).__name__}: {error}") from error
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise BillUnavailableError(f"Cost Explorer's answer lacks {error}") from error

    def _days(
        self, first: date, end: date, only: "ExpressionTypeDef", groups: "Sequence[GroupDefinitionTypeDef]" = ()
    ) -> "Mapping[date, list[ResultByTimeTypeDef]]":
        days: dict[date, list[ResultByTimeTypeDef]] = {}
        for page in self._pages(first, end, only, groups):
            for entry in page["ResultsByTime"]:
                days.setdefault(date.fromisoformat(entry["TimePeriod"]["Start"]), []).append(entry)
        return days

    def _pages(
        self, first: date, end: date, only: "ExpressionTypeDef", groups: "Sequence[GroupDefinitionTypeDef]"
    ) -> "Iterator[GetCostAndUsageResponseTypeDef]":
        request: GetCostAndUsageRequestTypeDef = {
            "TimePeriod": {"Start": first.isoformat(), "End": end.isoformat()},
            "Granularity": "DAILY",
            "Metrics": [_METRIC],
            "Filter": only,
        }
        if groups:
            request["GroupBy"] = groups
        for _ in range(_MOST_PAGES):
            page = self._client.get_cost_and_usage(**request)
            yield page
            if not page.get("NextPageToken"):
                return
            request["NextPageToken"] = page["NextPageToken"]
        raise BillUnavailableError(f"Cost Explorer has more than {_MOST_PAGES} pages")


def _usd(metrics: "Mapping[str, MetricValueTypeDef]") -> float:
    amount = metrics[_METRIC]
    if amount["Unit"] != "USD":
        raise BillUnavailableError(f"the bill is in {amount['Unit']}, and prices are in USD")
    return float(amount["Amount"])

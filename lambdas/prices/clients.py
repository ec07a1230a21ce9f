"""The AWS calls that the refresh makes, as types: what boto3's clients, made at run time, are known to answer."""

from typing import Any, Protocol


class PricingClient(Protocol):
    """The AWS Price List."""

    def get_products(self, **request: object) -> dict[str, Any]:
        """GetProducts."""


class Ec2Client(Protocol):
    """EC2."""

    def describe_spot_price_history(self, **request: object) -> dict[str, Any]:
        """DescribeSpotPriceHistory."""

    def describe_capacity_block_offerings(self, **request: object) -> dict[str, Any]:
        """DescribeCapacityBlockOfferings."""


class SavingsPlansClient(Protocol):
    """Savings Plans."""

    def describe_savings_plans_offering_rates(self, **request: object) -> dict[str, Any]:
        """DescribeSavingsPlansOfferingRates."""


class TableClient(Protocol):
    """DynamoDB."""

    def scan(self, **request: object) -> dict[str, Any]:
        """Scan."""

    def put_item(self, **request: object) -> dict[str, Any]:
        """PutItem."""

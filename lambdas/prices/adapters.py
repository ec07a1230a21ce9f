"""The refresh as deployed: its environment variables, and AWS's clients with their timeouts and retries."""

from typing import Final

import boto3
from botocore.config import Config
from pydantic import Field, Json

from lambdas.prices.blocks import CapacityBlocks
from lambdas.prices.price_list import OnDemand, SageMakerHosting
from lambdas.prices.savings_plans import SavingsPlans
from lambdas.prices.service import Dependencies
from lambdas.prices.spot import Spot
from lambdas.prices.table import PriceTable
from lambdas.shared.settings import FunctionSettings


class Settings(FunctionSettings):
    """``types`` are those of the environment's fleets, as JSON; the catalogue's are asked for after."""

    environment: str = Field(alias="ENVIRONMENT")
    region: str = Field(alias="PRICE_REGION")
    table: str = Field(alias="PRICE_TABLE")
    types: Json[tuple[str, ...]] = Field(alias="INSTANCE_TYPES")


# Nobody waits for an answer, and GetProducts is throttled early: a call is over after 40 s at the most.
_PATIENT: Final = Config(
    connect_timeout=3, read_timeout=8, retries={"mode": "standard", "total_max_attempts": 4}, max_pool_connections=10
)
# The Price List and Savings Plans are answered from here, whatever region the prices are of.
_LISTS: Final = "us-east-1"


def dependencies(settings: Settings) -> Dependencies:
    """Everything that the service asks and keeps."""
    pricing = boto3.client("pricing", region_name=_LISTS, config=_PATIENT)
    plans = boto3.client("savingsplans", region_name=_LISTS, config=_PATIENT)
    ec2 = boto3.client("ec2", region_name=settings.region, config=_PATIENT)
    table = boto3.client("dynamodb", region_name=settings.region, config=_PATIENT)
    sources = (OnDemand(pricing), SageMakerHosting(pricing), Spot(ec2), CapacityBlocks(ec2), SavingsPlans(plans))
    return Dependencies(sources, PriceTable(table, settings.table))

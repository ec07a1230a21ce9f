"""The one item of the price table that this node's dollars are counted at."""

from agents.config import AgentConfig, PriceConfig
from agents.price import Read
from agents.sinks import aws
from fleet.prices.record import from_item, texts


def reader(config: AgentConfig) -> Read | None:
    """Reads it; None where the configuration names no table, because the fleet has agreed on a price of its own."""
    table = config.price_table
    if table is None:
        return None

    def read() -> PriceConfig | None:
        # A client for one call a day is not kept: it is some megabytes.
        client = aws.Session().client("dynamodb", region_name=config.region, config=aws.CLIENT_CONFIG)
        try:
            item = client.get_item(TableName=table.name, Key={"id": {"S": table.id}}).get("Item")
        finally:
            client.close()
        if not item:
            return None
        price = from_item(texts(item)).price
        return PriceConfig(price.usd_per_hour, price.kind.value, price.source, price.as_of)

    return read

"""Prices: which one an hour is counted at, how old it may be, how it is written, and what is kept of it."""

from fleet.prices.choice import kind_for, price_for, price_of

__all__ = ["kind_for", "price_for", "price_of"]

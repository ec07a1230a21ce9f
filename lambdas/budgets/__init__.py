"""Budgets by the hour, and the waste of the day before: read from the ledger, told to people, and acted on."""

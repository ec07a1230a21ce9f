"""The ledger's roll-up: from the log events that arrived to a day's dollars in Parquet, held against the bill."""

"""`fleet ledger`: what was paid for, for whom, at which price, and what the bill says of it."""

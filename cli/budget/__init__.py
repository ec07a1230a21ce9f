"""`fleet budget`: where a month's budgets stand, and the stop when one is used up."""

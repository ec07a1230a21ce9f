"""What an environment costs in a month of 730 hours, line by line: how much of what, at which dated price."""

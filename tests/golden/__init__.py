"""What the capacity compiler makes of every instance type, as reviewed: one file for each type and market."""

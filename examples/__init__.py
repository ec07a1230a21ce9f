"""Jobs that a team may start from: a job file and its scripts each. What they share needs no framework."""

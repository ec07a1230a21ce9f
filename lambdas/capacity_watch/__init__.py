"""Looks every minute whether each fleet has its capacity, why not, and what lies unused; keeps what was reserved."""

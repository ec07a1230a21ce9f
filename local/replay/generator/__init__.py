"""Scenarios made by chance from stated distributions: days that are well, and what goes wrong in them."""

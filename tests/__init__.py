"""Tests mirror the tree; infra, contract, e2e and browser tests have rooms of their own."""

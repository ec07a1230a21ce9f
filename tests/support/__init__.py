"""Fakes and factories that several tests use."""

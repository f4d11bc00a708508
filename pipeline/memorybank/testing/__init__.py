"""Shipped fakes for tests."""

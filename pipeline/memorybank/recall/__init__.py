"""Recall: find what is remembered."""

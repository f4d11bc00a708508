"""Reflect: answer from what is remembered."""

"""Retain: turn content into facts, entities and links."""

"""Reflect: answers a question from what is remembered, and says which facts the answer rests on."""

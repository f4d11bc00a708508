"""Directives: what of an answer code checks, what a model must judge, and what becomes of one that breaks a rule."""

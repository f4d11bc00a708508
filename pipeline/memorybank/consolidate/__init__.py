"""Consolidation: from facts to observations, what the bank has learned from them. Never deletes a fact."""

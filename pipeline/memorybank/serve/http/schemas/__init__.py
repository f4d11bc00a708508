"""Wire types: names, types and defaults of the published contract."""

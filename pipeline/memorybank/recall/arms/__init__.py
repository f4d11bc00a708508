"""The arms of recall: each turns what the database gave into one score for every unit. Pure functions on arrays."""

"""A large bank: an index of its own, and the units that may answer in place of all. What is small is read whole."""

"""Mental models: saved answers to a question over a part of a bank, kept true to what the bank holds."""

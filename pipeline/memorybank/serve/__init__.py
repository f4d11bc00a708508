"""The ways in: HTTP, the command line."""

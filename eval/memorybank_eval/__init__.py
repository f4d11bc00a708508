"""The evaluation harness of memorybank."""

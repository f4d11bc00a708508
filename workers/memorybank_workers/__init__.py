"""Worker processes of memorybank."""

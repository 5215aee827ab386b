"""Compares Mnemic with other memories, and measures it under load."""

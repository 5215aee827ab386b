"""Measures Mnemic side by side with other memories, and under load."""

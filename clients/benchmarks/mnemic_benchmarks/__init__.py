"""Adapters that run benchmarks of memories against a Mnemic server."""

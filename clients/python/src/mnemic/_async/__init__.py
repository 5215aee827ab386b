"""The client for `asyncio` and `trio`."""

"""Servers with and without keys, and clients of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar
from uuid import uuid4

import pytest
from running import START_SECONDS, Server, key, serve

from mnemic import Mnemic, Space

T = TypeVar("T")
KEYS = {
    "admin": "9ae5d4a38cbd4d2d9b4e4d3c5d0b41c1",
    "reader": "1f2b8a2a6a0e4b0c8f6d7e5c4b3a2918",
}


def eventually(look: Callable[[], T | None]) -> T:
    """Polls `look` until it returns a value: facts and entities appear a moment after the records."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("it did not come in time")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from serve(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with keys: `admin` may do everything, `reader` reads spaces that begin with `open-`."""
    keys = key("admin", KEYS["admin"], '["*"]') + key("reader", KEYS["reader"], '["open-*"]', '["read"]')
    yield from serve(tmp_path_factory.mktemp("guarded"), keys)


@pytest.fixture
def memory(server: Server) -> Iterator[Mnemic]:
    with Mnemic(server.url) as it:
        yield it


@pytest.fixture
def space(memory: Mnemic) -> Space:
    """A new space for each test."""
    return memory.create_space(f"test-{uuid4().hex[:12]}")

"""A real server for the adapters."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from running import serve


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Starts a server and sets `MNEMIC_URL`, which the adapters read, to its address."""
    for it in serve(tmp_path_factory.mktemp("server")):
        os.environ["MNEMIC_URL"] = it.url
        yield

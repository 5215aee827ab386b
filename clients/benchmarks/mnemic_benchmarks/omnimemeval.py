"""A client for OmniMemEval: `add`, `search` and `delete_user`, as its `client_factory` calls them.

Settings in the environment: `MNEMIC_URL`, `MNEMIC_KEY`, and `MNEMIC_TOKENS`, the budget of the evidence (2048).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from mnemic import Mnemic, UnknownSpaceError

from mnemic_benchmarks import memory

PREFIX = "omnimemeval"


class MnemicClient:
    """A space for each user of the benchmark."""

    def __init__(self) -> None:
        self.memory = Mnemic()
        self.tokens = int(os.environ.get("MNEMIC_TOKENS", "2048"))

    def add(self, messages: Sequence[dict[str, Any]], user_id: str, **_: Any) -> None:
        """Stores the messages of a session and returns once facts are derived from them."""
        session = str(uuid4())
        memory.store(self.memory, memory.space_name(PREFIX, user_id), memory.records(messages, session))

    def search(self, query: str, user_id: str, top_k: int) -> str:
        """Returns the evidence for a question as text, within the budget; `top_k` is not used."""
        space = self.memory.create_space(memory.space_name(PREFIX, user_id))
        return space.ask(query, tokens=self.tokens).pack.text

    def delete_user(self, user_id: str) -> None:
        """Deletes all data of a user, if there is some."""
        with suppress(UnknownSpaceError):
            self.memory.space(memory.space_name(PREFIX, user_id)).delete()

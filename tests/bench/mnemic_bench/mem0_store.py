"""mem0's own library as it is published: `infer=False`, the embedded Qdrant store, its history in SQLite, no network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# Before the library is imported: it reports its use to its makers otherwise.
os.environ["MEM0_TELEMETRY"] = "false"

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.factory import EmbedderFactory

from . import talk
from .vectors import WIDTH, Precomputed

USER = "bench"
TOP_K = 10


class PrecomputedEmbedder(EmbeddingBase):
    """The embedder that mem0 calls: looks vectors up."""

    vectors = Precomputed()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.vectors.vector(text).tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Mem0Store:
    """A memory of one user."""

    def __init__(self, folder: Path, vectors: Precomputed) -> None:
        PrecomputedEmbedder.vectors = vectors
        # mem0 checks the names of providers: of those it knows, this is the one for embedders of the caller.
        EmbedderFactory.provider_to_class["langchain"] = f"{__name__}.PrecomputedEmbedder"
        settings: dict[str, Any] = {
            "embedder": {"provider": "langchain", "config": {"embedding_dims": WIDTH}},
            # Made by the constructor, never called with `infer=False`.
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "embedding_model_dims": WIDTH},
            },
            "history_db_path": str(folder / "history.db"),
        }
        self.memory = Memory.from_config(settings)

    def add(self, records: list[talk.Record]) -> None:
        self.memory.add([it.message() for it in records], user_id=USER, infer=False)

    def make_searchable(self) -> None:
        """Does nothing: what is added is searchable."""

    def search(self, question: str) -> list[str]:
        found = self.memory.search(question, filters={"user_id": USER}, top_k=TOP_K)
        return [it["memory"] for it in found["results"]]

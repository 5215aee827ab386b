"""The published library of mem0: `infer=False`, the embedded Qdrant store, its history in SQLite, no network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# Set before the import of the library, which otherwise reports its use to its makers.
os.environ["MEM0_TELEMETRY"] = "false"

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.factory import EmbedderFactory

from . import talk
from .vectors import WIDTH, Precomputed

USER = "bench"
TOP_K = 10


class PrecomputedEmbedder(EmbeddingBase):
    """The embedder that mem0 calls: returns precomputed vectors."""

    vectors = Precomputed()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.vectors.vector(text).tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Mem0Store:
    """A memory with one user."""

    def __init__(self, folder: Path, vectors: Precomputed) -> None:
        PrecomputedEmbedder.vectors = vectors
        # mem0 checks the names of providers; this one is meant for embedders of the caller.
        EmbedderFactory.provider_to_class["langchain"] = f"{__name__}.PrecomputedEmbedder"
        settings: dict[str, Any] = {
            "embedder": {"provider": "langchain", "config": {"embedding_dims": WIDTH}},
            # The constructor creates a model client, which is never called with `infer=False`.
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
        """Does nothing, because added records are searchable at once."""

    def search(self, question: str) -> list[str]:
        found = self.memory.search(question, filters={"user_id": USER}, top_k=TOP_K)
        return [it["memory"] for it in found["results"]]

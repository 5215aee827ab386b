"""A typical self-written store: BM25 (`bm25s`) and exact cosine (`numpy`), merged by reciprocal rank fusion."""

from __future__ import annotations

import json
import os
from pathlib import Path

import bm25s
import numpy as np

from . import talk
from .vectors import WIDTH, Precomputed

TOP_K = 10
# Hits of each method that are merged, and the constant of reciprocal rank fusion.
HITS = 60
FUSION = 60


class HybridStore:
    """Texts in a file that is flushed to disk with each batch; both indexes are in memory."""

    def __init__(self, folder: Path, vectors: Precomputed) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.vectors = vectors
        self.file = (folder / "records.jsonl").open("ab")
        self.vector_file = (folder / "vectors.f32").open("ab")
        self.texts: list[str] = []
        self.tokens: list[list[str]] = []
        self.matrix = np.empty((0, WIDTH), dtype=np.float32)
        self.pending: list[np.ndarray] = []
        self.index: bm25s.BM25 | None = None

    def add(self, records: list[talk.Record]) -> None:
        texts = [it.text for it in records]
        made = np.stack([self.vectors.vector(text) for text in texts]).astype(np.float32)
        for it in records:
            self.file.write(json.dumps(it.native()).encode() + b"\n")
        self.vector_file.write(made.tobytes())
        for file in (self.file, self.vector_file):
            file.flush()
            os.fsync(file.fileno())
        self.texts += texts
        self.tokens += tokens_of(texts)
        self.pending.append(made)

    def make_searchable(self) -> None:
        """Builds the word index again, since it cannot be extended, and concatenates the vectors."""
        if self.pending:
            self.matrix = np.concatenate([self.matrix, *self.pending])
            self.pending = []
            self.index = bm25s.BM25()
            self.index.index(self.tokens, show_progress=False)

    def search(self, question: str) -> list[str]:
        if self.index is None:
            return []
        likeness = self.matrix @ self.vectors.vector(question)
        by_word = self.index.get_scores(tokens_of([question])[0])
        scores: dict[int, float] = {}
        for values in (likeness, by_word):
            for rank, at in enumerate(best(values, HITS)):
                scores[at] = scores.get(at, 0.0) + 1 / (FUSION + rank + 1)
        ranked = sorted(scores, key=lambda at: (-scores[at], at))
        return [self.texts[at] for at in ranked[:TOP_K]]


def tokens_of(texts: list[str]) -> list[list[str]]:
    return bm25s.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)


def best(values: np.ndarray, count: int) -> list[int]:
    """Returns the indexes of the greatest values above 0, the greatest first."""
    count = min(count, len(values))
    at = np.argpartition(-values, count - 1)[:count]
    return [int(it) for it in at[np.argsort(-values[at], kind="stable")] if values[it] > 0]

"""Vectors of sentences without a model: each word has its own direction, and a sentence is the sum of its words.

The vectors do not represent meaning. They cost a store as much as vectors of a sentence encoder of this width.
"""

from __future__ import annotations

import re
from hashlib import blake2b

import numpy as np

WIDTH = 384
WORD = re.compile(r"[^\W_]+")
# Words without a distinct meaning; an encoder would give them little weight too.
STOP_WORDS = frozenset(
    "a about an and are as at be but by did do does for from had has have he her his how i if in is it its me my not of on "
    "one or our out s she so than that the their them then they this to up us was we were what when where which who will "
    "with you your called happened ask".split()
)


class Embedder:
    """Computes vectors, and caches the directions of words."""

    def __init__(self) -> None:
        self.directions: dict[str, np.ndarray] = {}

    def direction(self, word: str) -> np.ndarray:
        found = self.directions.get(word)
        if found is None:
            seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
            found = np.random.default_rng(seed).standard_normal(WIDTH).astype(np.float32)
            # Names occur once; only words that many sentences share are worth caching.
            if len(self.directions) < 100_000:
                self.directions[word] = found
        return found

    def vector(self, text: str) -> np.ndarray:
        """Returns a vector of length 1; for a text without words, the first unit vector."""
        words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
        total = np.sum([self.direction(word) for word in words], axis=0) if words else np.eye(1, WIDTH, dtype=np.float32)[0]
        return total / np.linalg.norm(total)


class Precomputed:
    """Vectors computed in advance, so that the time of an embedder is not measured."""

    def __init__(self) -> None:
        self.embedder = Embedder()
        self.known: dict[str, np.ndarray] = {}

    def prepare(self, texts: list[str]) -> None:
        """Computes the vectors of the next texts, and drops the earlier ones."""
        self.known = {text: self.embedder.vector(text) for text in texts}

    def vector(self, text: str) -> np.ndarray:
        found = self.known.get(text)
        return self.embedder.vector(text) if found is None else found

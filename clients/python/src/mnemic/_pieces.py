"""JSON in the metadata of a record, split into pieces that respect the limits for values and for the number of entries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Bytes of a piece, and the greatest number of pieces of a value: 30 KB. The JSON is ASCII, so each character is one
# byte.
PIECE = 1_000
PIECES_MAX = 30


def pieces_of(name: str, value: Any, what: str) -> dict[str, str]:
    """Returns a value as entries `name00`, `name01` and so on. Raises a `ValueError` that names `what` if it is too long."""
    written = json.dumps(value, separators=(",", ":"))
    if len(written) > PIECE * PIECES_MAX:
        raise ValueError(f"{what} has {len(written)} bytes of JSON; at most {PIECE * PIECES_MAX} are kept")
    return {f"{name}{at // PIECE:02}": written[at : at + PIECE] for at in range(0, len(written), PIECE)}


def value_of(name: str, metadata: Mapping[str, str]) -> Any:
    """Returns the value that `pieces_of` wrote under a name."""
    return json.loads("".join(metadata[it] for it in sorted(metadata) if it.startswith(name)))

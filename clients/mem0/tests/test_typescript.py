"""Runs the tests of the TypeScript client of mem0, in typescript/tests, against the same server."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import ANN, OWNER

TYPESCRIPT = Path(__file__).resolve().parents[1] / "typescript"


def test_every_method_of_the_typescript_client_works(host: str) -> None:
    keys = {"MEM0_HOST": host, "MEM0_KEY": OWNER, "MEM0_ANN_KEY": ANN}
    done = subprocess.run(
        ["node", "--test", "tests/methods.test.ts"],
        cwd=TYPESCRIPT,
        env={**os.environ, **keys},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

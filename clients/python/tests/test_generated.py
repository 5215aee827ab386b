"""Checks that the generated files are up to date and that the types are correct."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mnemic

HERE = Path(__file__).resolve().parents[1]


def test_generated_files_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, str(HERE / "generate"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_types_are_strict() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_package_is_marked_as_typed() -> None:
    assert Path(mnemic.__file__).with_name("py.typed").exists()

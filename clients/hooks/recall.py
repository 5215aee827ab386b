#!/usr/bin/env python3
"""A filter for any agent: reads a message, prints the block of recalled lines for it, or nothing. See README.md."""

from __future__ import annotations

import argparse
import os
import sys

from memory import RECALL_SECONDS, Memory, read_input, recall, run, settings_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", help="name of the conversation: lines from it are not shown again")
    session = parser.parse_args().session

    def hook() -> None:
        message = read_input()
        if not message.strip():
            return
        block = recall(Memory(settings_of(os.environ), RECALL_SECONDS), message, session)
        if block:
            sys.stdout.buffer.write(f"{block}\n".encode())

    return run(hook)


if __name__ == "__main__":
    sys.exit(main())

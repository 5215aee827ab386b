"""Adds the server's binary to the wheel as the command `mnemic`, and gives the wheel the tag of its platform.

`packaging/release` sets both variables. Without them the wheel is pure Python without a command, for the development of
the client.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BinaryHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        binary = os.environ.get("MNEMIC_WHEEL_BINARY")
        if not binary or version == "editable":
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['MNEMIC_WHEEL_PLATFORM']}"
        build_data["shared_scripts"] = {binary: "mnemic"}

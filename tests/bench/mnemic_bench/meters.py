"""Resources of processes, and durations of calls."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the smallest value such that at least this share of the values is not greater; 0 if there are no values."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of a process in seconds, including threads that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    fields = stat[stat.rindex(")") + 2 :].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(pid: int) -> float:
    """Returns the resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def disk_mb(folder: Path) -> float:
    """Returns the size of all files of a folder in MB. Files that are removed during the walk count as 0."""
    size = 0
    for it in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += it.stat().st_size if it.is_file() else 0
    return size / 1e6


def flush_ms(folder: Path, times: int = 20) -> float:
    """Returns the median time in milliseconds that the disk takes to write a page with `fsync`."""
    taken = []
    path = folder / "flush"
    with path.open("wb") as file:
        for _ in range(times):
            begun = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            taken.append(1e3 * (time.perf_counter() - begun))
    path.unlink()
    return percentile(taken, 0.5)


def machine(folder: Path) -> dict[str, object]:
    """Returns the machine of the measurement: processor, cores, load of the last minute, and flush time of the disk."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load_1_minute": round(os.getloadavg()[0], 2),
        "flush_ms": round(flush_ms(folder), 2),
    }

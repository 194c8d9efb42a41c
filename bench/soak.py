"""Runs mixed work in a headless Chromium for minutes and checks that no memory grows.

    python3 bench/soak.py [--minutes 10]

Runs rounds of `inside/soak.py` in a bare page: all kinds of calls, invalid calls, profiles, images
and device losses with recovery. Between rounds, after garbage collection, it prints a row with the
memory and objects in use. Exits with 1 if one of these numbers grew between the first third (after
a warm-up) and the last third of the run.

Run it with .cache/venv/bin/python, after tests/run.py has created that environment.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "browser")]

from harness.bare import BarePage  # noqa: E402
from harness.lab import Lab  # noqa: E402
from playwright.sync_api import CDPSession  # noqa: E402

MIB = 2**20
SAMPLES = 24
WARM_UP = 6  # samples before the first third


@dataclass(frozen=True)
class Quantity:
    """A measured quantity: its column, and the growth that counts as noise."""

    name: str
    noise: float
    relative_noise: float = 0.0

    def grew(self, values: list[float]) -> bool:
        """Whether the last third exceeds the first third by more than noise."""
        third = max(1, len(values) // 3)
        before, after = median(values[:third]), median(values[-third:])
        return after - before > self.noise + self.relative_noise * before


QUANTITIES = (
    Quantity("GPU in use kB", 0),
    Quantity("GPU pooled kB", 0, 0.1),
    Quantity("GPUBuffers", 2),
    Quantity("table entries", 2),
    Quantity("promises", 0),
    Quantity("Python objects", 100),
    Quantity("WASM MiB", 0),
    Quantity("JS heap kB", 300, 0.01),
    Quantity("GPU process MiB", 16, 0.05),
)


def sample(bare: BarePage, page: CDPSession, browser: CDPSession) -> list[float]:
    """Return the current values, in the order of QUANTITIES."""
    held: list[float] = bare.run("held()")
    page.send("HeapProfiler.collectGarbage")
    page.send("HeapProfiler.collectGarbage")
    heap = page.send("Runtime.getHeapUsage")["usedSize"] / 1e3
    return [*held, heap, gpu_process_mib(browser)]


def gpu_process_mib(browser: CDPSession) -> float:
    """Return the resident memory of Chromium's GPU process, or 0 without /proc."""
    processes = browser.send("SystemInfo.getProcessInfo")["processInfo"]
    for process in processes:
        status = Path(f"/proc/{process['id']}/status")
        if process["type"] == "GPU" and status.exists():
            line = next(x for x in status.read_text().splitlines() if x.startswith("VmRSS"))
            return int(line.split()[1]) / 1024
    return 0.0


def run(minutes: float, show: Callable[[str], None]) -> list[list[float]]:
    """Work for some minutes and return the samples."""
    lab = Lab()
    problems: list[str] = []
    try:
        bare = lab.new_bare_page(problems.append, "main")
        bare.boot(["numpy", "micropip"])
        bare.install([lab.wheel_url])
        bare.run((ROOT / "bench" / "inside" / "soak.py").read_text(encoding="utf-8"))
        page = bare.page.context.new_cdp_session(bare.page)
        page.send("HeapProfiler.enable")
        browser = lab.browser.new_browser_cdp_session()
        width = max(len(quantity.name) for quantity in QUANTITIES)
        show("  rounds  " + "  ".join(q.name.rjust(width) for q in QUANTITIES))
        seconds = minutes * 60 / SAMPLES
        samples = []
        for _ in range(SAMPLES):
            end = time.monotonic() + seconds
            rounds = bare.run(f"await play({seconds})", timeout=seconds + 120)
            assert time.monotonic() >= end - 1
            samples.append(sample(bare, page, browser))
            cells = "  ".join(f"{value:{width}.1f}" for value in samples[-1])
            show(f"{rounds:8}  {cells}")
        if problems:
            raise SystemExit("the page reported problems:\n" + "\n".join(problems))
        return samples
    finally:
        lab.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs mixed work and fails if memory grows.")
    parser.add_argument("--minutes", type=float, default=10.0, help="duration (10)")
    arguments = parser.parse_args()
    if not 0 < arguments.minutes <= 24 * 60:
        parser.error("--minutes must be above 0, at most 1440")
    samples = run(arguments.minutes, lambda line: print(line, flush=True))
    columns: list[Any] = list(zip(*samples[WARM_UP:], strict=True))
    grown = [q.name for q, values in zip(QUANTITIES, columns, strict=True) if q.grew(list(values))]
    if grown:
        raise SystemExit(f"grew: {', '.join(grown)}")
    print("nothing grew")


if __name__ == "__main__":
    main()

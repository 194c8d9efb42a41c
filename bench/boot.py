"""Measures the start of the notebook in a headless Chromium on this machine.

    python3 bench/boot.py --times 5

Prints the median seconds from the navigation to "Ready", and to the first result of a sum on the
GPU, which includes importing browsergpu and opening the GPU. The first visit starts with an empty
browser profile. When the browser has cached its files, it restarts with the same profile for the
second visit, and again for the third. The site is served from this machine, so no network is
measured.

Run it with .cache/venv/bin/python, after tests/run.py has created that environment.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from playwright.sync_api import Playwright, sync_playwright  # noqa: E402

from devsite import Layout, chromium, prepare, serving  # noqa: E402
from devsite.progress import Console  # noqa: E402
from snapshot.maker import ensure_snapshot  # noqa: E402

TIMEOUT_MS = 600_000

# The page's clock starts at the navigation.
BOOT = """async (code) => {
  while (!globalThis.browsergpu) await new Promise((next) => setTimeout(next, 5));
  await browsergpu.ready;
  const ready = performance.now();
  const sum = await browsergpu.run(code);
  return { ready, result: performance.now(), sum };
}"""
SUM = "import browsergpu as bg\nfloat(bg.ones((1000, 1000)).sum())"
# The last cache that the kernel writes, some seconds after a first boot.
KEPT = "async () => (await (await caches.open('browsergpu-python')).keys()).length > 0"


def boot(playwright: Playwright, profile: Path, url: str) -> tuple[float, float]:
    """Return the seconds to "Ready" and to the first result, once the caches are complete."""
    with chromium.launch_profile(playwright, profile) as context:
        page = context.pages[0]
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(url, wait_until="commit")
        told = page.evaluate(BOOT, SUM)
        assert told["sum"] == "1000000.0", told
        while not page.evaluate(KEPT):
            page.wait_for_timeout(500)
    return told["ready"] / 1000, told["result"] / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5, help="number of visits of each kind")
    times = parser.parse_args().times
    measured: dict[str, list[tuple[float, float]]] = {"first": [], "second": [], "third": []}
    roots = prepare().roots
    ensure_snapshot(Layout(), Console(sys.stderr))
    with serving(roots) as address, sync_playwright() as playwright:
        for _ in range(times):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                for rows in measured.values():
                    rows.append(boot(playwright, Path(profile), f"{address}/"))
    print(f"{'medians of ' + str(times):<16}{'Ready':>10}{'first sum':>12}")
    for kind, rows in measured.items():
        ready, result = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{kind:<16}{ready:>8.2f} s{result:>10.2f} s")


if __name__ == "__main__":
    main()

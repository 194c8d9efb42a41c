"""The timing rule of common.mjs and the check of results, for pages that run Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import js
import numpy as np

WORK = json.loads(js.benchWork)
RULE = WORK["rule"]


class Skip(Exception):
    """A row cannot be measured. The message says why."""


async def timed(
    once: Callable[[int], Any], row: dict[str, Any], warm_ms: float = RULE["warmMs"]
) -> dict[str, Any]:
    """Apply the rule to ``once(k)``, which returns the milliseconds of k calls and a wait."""
    warm = [await once(1) for _ in range(3)]
    k, took = 1, await once(1)
    started = perf_counter()
    while not row["options"].get("single") and took < RULE["leastMs"] and k < RULE["mostIssues"]:
        wanted = -int(-k * RULE["leastMs"] * 1.15 // max(took, 0.05))
        k = min(RULE["mostIssues"], 10 * k, max(k + 1, wanted))
        took = await once(k)
    while 1e3 * (perf_counter() - started) < warm_ms:
        await once(k)
    times: list[float] = []
    end = perf_counter() + row["budget"] * RULE["patience"]
    while len(times) < RULE["repeats"] and (len(times) < 3 or perf_counter() < end):
        times.append(await once(k) / k)
    return {
        "ms": median(times),
        "best_ms": min(times),
        "k": k,
        "repeats": len(times),
        "warm_ms": warm,
    }


def check(row: dict[str, Any], got: Any) -> dict[str, Any]:
    """Compare a result's entries with the row's reference values."""
    expected = row["check"]
    error = float(np.abs(got.astype(np.float64) - expected["values"]).max())
    ok = error <= expected["tolerance"]
    told = error if np.isfinite(error) else str(error)
    return {"ok": ok, "error": told, "tolerance": expected["tolerance"]}


def post(line: dict[str, Any]) -> Any:
    """Send one line. Await the result before work that blocks the page."""
    return js.benchPost(json.dumps(line))

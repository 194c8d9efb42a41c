"""Accessibility checks of a page by axe-core."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from playwright.sync_api import Page

from .site import REPOSITORY

AXE = REPOSITORY / ".cache" / "javascript" / "node_modules" / "axe-core" / "axe.min.js"

#: How a page can look; it is left with the last of each. A narrow one has icons for words.
SCHEMES = ("dark", "light")
WIDTHS = (390, 1024, 1400)

# What fades in is waited for; what pulses without end is not.
_RUN = """async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const ending = document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime));
  await Promise.allSettled(ending.map(({ finished }) => finished));
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical");
}"""

# axe-core takes a list of completions for a place that no key can scroll, unless its field is a
# combobox; the editor's keys do scroll it.
_SCROLLED_BY_THE_EDITOR = re.compile(r"scrollable-region-focusable: #cm-ac-")


@cache
def _source() -> str:
    if not AXE.exists():
        raise FileNotFoundError(f"no {AXE}: run `python3 tests/run.py`, which fetches it")
    return AXE.read_text(encoding="utf-8")


def find_serious(page: Page) -> list[str]:
    """What axe-core calls serious or critical, light and dark, wide and narrow: a line each."""
    if not page.evaluate("Boolean(globalThis.axe)"):
        page.evaluate(_source())
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            looks = f"{scheme}, {width} px"
            found += [line for one in page.evaluate(_RUN) for line in _lines(one, looks)]
    return [line for line in found if not _SCROLLED_BY_THE_EDITOR.search(line)]


def _lines(violation: dict[str, Any], looks: str) -> list[str]:
    return [
        f"{looks}: {violation['impact']} {violation['id']}: {_place(node['target'])}: "
        f"{node['failureSummary']}"
        for node in violation["nodes"]
    ]


def _place(target: list[Any]) -> str:
    """Selectors; one within shadow trees is a list of its own."""
    return " ".join(one if isinstance(one, str) else " >>> ".join(one) for one in target)

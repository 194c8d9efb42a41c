"""Accessibility checks of a page with axe-core."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from playwright.sync_api import Page

from .site import REPOSITORY

AXE = REPOSITORY / ".cache" / "javascript" / "node_modules" / "axe-core" / "axe.min.js"

#: The appearances to check; the page keeps the last. Narrow pages show icons instead of words.
SCHEMES = ("dark", "light")
WIDTHS = (390, 1024, 1400)

# Wait for finite animations such as fades; endless ones keep running.
_RUN = """async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const ending = document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime));
  await Promise.allSettled(ending.map(({ finished }) => finished));
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical");
}"""

# axe-core reports a list of completions as impossible to scroll with keys, unless its field is a
# combobox. The editor's keys do scroll it.
_SCROLLED_BY_THE_EDITOR = re.compile(r"scrollable-region-focusable: #cm-ac-")


@cache
def _source() -> str:
    if not AXE.exists():
        raise FileNotFoundError(f"no {AXE}: run `python3 tests/run.py`, which fetches it")
    return AXE.read_text(encoding="utf-8")


def find_serious(page: Page, widths: tuple[int, ...] = WIDTHS) -> list[str]:
    """Return axe-core's serious and critical violations, one a line, in all appearances."""
    if not page.evaluate("Boolean(globalThis.axe)"):
        page.evaluate(_source())
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            looks = f"{scheme}, {width} px"
            found += [line for one in page.evaluate(_RUN) for line in _lines(one, looks)]
    return [line for line in found if not _SCROLLED_BY_THE_EDITOR.search(line)]


# The page shows through the frames of widgets, which axe-core takes for white. Frames out of sight
# are not drawn, so nothing waits for a drawing. The page has the other parts.
_RUN_IN_FRAME = """async (ground) => {
  const root = document.documentElement;
  if (document.querySelector(".jupyter-widgets")) root.style.background = ground;
  const others = ["document-title", "html-has-lang", "bypass", "page-has-heading-one", "region"];
  const rules = Object.fromEntries(others.map((id) => [id, { enabled: false }]));
  const options = { resultTypes: ["violations"], rules, iframes: false, preload: false };
  const late = new Promise((_, reject) => setTimeout(reject, 120_000, new Error("axe-core waits")));
  const { violations } = await Promise.race([axe.run(document, options), late]);
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical");
}"""

# vega-embed gives its menu, a `summary` element, no name.
_MENU_OF_VEGA_EMBED = re.compile("serious summary-name: (?:details > )?summary")


def find_serious_in_frames(page: Page) -> list[str]:
    """Return axe-core's serious and critical violations in frames of outputs, in both themes."""
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        for number, frame in enumerate(page.frames[1:]):
            if not frame.evaluate("Boolean(globalThis.axe)"):
                frame.evaluate(_source())
            for one in frame.evaluate(_RUN_IN_FRAME, ground):
                found += _lines(one, f"{scheme}, frame {number}")
    return [line for line in found if not _MENU_OF_VEGA_EMBED.search(line)]


def _lines(violation: dict[str, Any], looks: str) -> list[str]:
    return [
        f"{looks}: {violation['impact']} {violation['id']}: {_place(node['target'])}: "
        f"{node['failureSummary']}"
        for node in violation["nodes"]
    ]


def _place(target: list[Any]) -> str:
    """Join axe-core's selectors. Selectors within shadow trees come as nested lists."""
    return " ".join(one if isinstance(one, str) else " >>> ".join(one) for one in target)

"""Accessibility checks of a page with axe-core."""

from __future__ import annotations

import json
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
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 500); // frames out of sight are not drawn
  });
  const ending = document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime));
  await Promise.allSettled(ending.map(({ finished }) => finished));
  const rules = Object.fromEntries(OFF.map((id) => [id, { enabled: false }]));
  const options = { resultTypes: ["violations"], rules, iframes: false };
  const { violations } = await axe.run(document, options);
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical");
}"""
#: A frame of an output is a part of the page, which has a title and a way to skip the masthead.
_OF_PAGES = ("document-title", "html-has-lang", "bypass")

# axe-core reports a list of completions as impossible to scroll with keys, unless its field is a
# combobox. The editor's keys do scroll it.
_SCROLLED_BY_THE_EDITOR = r"scrollable-region-focusable: #cm-ac-"
# vega-embed's menu in figures of Altair has no name.
_OF_VEGA = r"in a frame: serious summary-name: summary"
_KNOWN = re.compile(f"{_SCROLLED_BY_THE_EDITOR}|{_OF_VEGA}")

# The page shows through the frames of widgets, which axe-core takes for white.
_SHOW_GROUND = """(ground) => {
  const root = document.documentElement;
  if (document.querySelector(".jupyter-widgets")) root.style.background = ground;
}"""


@cache
def _source() -> str:
    if not AXE.exists():
        raise FileNotFoundError(f"no {AXE}: run `python3 tests/run.py`, which fetches it")
    return AXE.read_text(encoding="utf-8")


def find_serious(page: Page, widths: tuple[int, ...] = WIDTHS) -> list[str]:
    """Return axe-core's serious and critical violations, one a line, in all appearances.

    Frames of widgets and outputs are checked one by one at the last width, since axe-core's copies
    in them cannot reach each other.
    """
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            looks = f"{scheme}, {width} px"
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            for frame in page.frames if width == widths[-1] else [page.main_frame]:
                place = f"{looks}, in a frame" if frame.parent_frame else looks
                if not frame.evaluate("Boolean(globalThis.axe)"):
                    frame.evaluate(_source())
                frame.evaluate(_SHOW_GROUND, ground)
                off = _OF_PAGES if frame.parent_frame else ()
                violations = frame.evaluate(_RUN.replace("OFF", json.dumps(off)))
                found += [line for one in violations for line in _lines(one, place)]
    return [line for line in found if not _KNOWN.search(line)]


def _lines(violation: dict[str, Any], looks: str) -> list[str]:
    return [
        f"{looks}: {violation['impact']} {violation['id']}: {_place(node['target'])}: "
        f"{node['failureSummary']}"
        for node in violation["nodes"]
    ]


def _place(target: list[Any]) -> str:
    """Join axe-core's selectors. Selectors within shadow trees come as nested lists."""
    return " ".join(one if isinstance(one, str) else " >>> ".join(one) for one in target)

"""The pixels of a screenshot."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from playwright.sync_api import Locator, Page

_DECODE = """async (png) => {
  const blob = await (await fetch("data:image/png;base64," + png)).blob();
  const image = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  return [image.width, image.height, new Uint8Array(data.buffer).toBase64()];
}"""


@dataclass(frozen=True)
class Pixels:
    """RGBA bytes, row by row."""

    width: int
    height: int
    data: list[int]

    def rgb(self, x: int, y: int) -> tuple[int, int, int]:
        """Return the colour of one pixel."""
        at = 4 * (y * self.width + x)
        red, green, blue = self.data[at : at + 3]
        return red, green, blue


def screenshot(page: Page, what: Locator) -> Pixels:
    """Return the pixels of the screen at that place; the browser itself decodes the PNG."""
    png = base64.b64encode(what.screenshot(type="png")).decode()
    # As text, because Playwright encodes each number of an array separately, which takes seconds.
    width, height, data = page.evaluate(_DECODE, png)
    return Pixels(width, height, list(base64.b64decode(data)))

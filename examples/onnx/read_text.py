"""Read the text of a picture: PP-OCR on the GPU.

    python read_text.py rapidocr/models picture.png [boxes.png]

The folder of the models is in the package rapidocr (Apache-2.0). Pillow opens the picture. The
second file gets the picture with a box around each line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import browsergpu as bg

MARGIN, HEIGHT = 0.3, 48  # of a box, as a share of its height; and of a line for the model


def normalized(picture: Image.Image) -> np.ndarray:
    """Return [1, 3, height, width] from -1 to 1, blue first."""
    pixels = np.asarray(picture, np.float32)[..., ::-1] / 127.5 - 1
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def runs(flags: Any) -> list[tuple[int, int]]:
    """Return the begins and ends of runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def lines(model: bg.nn.Module, picture: Image.Image) -> list[tuple[int, int, int, int]]:
    """Return a box around each line of horizontal text, from the map of text."""
    sizes = [max(round(n / 32) * 32, 32) for n in picture.size]
    text = np.asarray(model(normalized(picture.resize(sizes)))[0, 0]) > 0.3
    found = []
    for top, bottom in runs(text.any(1)):
        left, right = np.flatnonzero(text[top:bottom].any(0))[[0, -1]]
        more = round((bottom - top) * MARGIN)
        corners = [left - more, top - more, right + more, bottom + more]
        scales = [picture.size[at % 2] / sizes[at % 2] for at in range(4)]
        x0, y0, x1, y1 = (round(n * scale) for n, scale in zip(corners, scales, strict=True))
        found.append((max(x0, 0), max(y0, 0), min(x1, picture.width), min(y1, picture.height)))
    return found


def words(model: bg.nn.Module, line: Image.Image) -> str:
    """Return the text of a line: the best letter of each place, without repetitions and blanks."""
    width = max(round(line.width * HEIGHT / line.height), HEIGHT)
    shares = model(normalized(line.resize((width, HEIGHT))))[0]
    best = np.asarray(bg.argmax(shares, axis=-1))
    letters = ["", *model.metadata["character"].splitlines(), " "]
    kept = [at for at, before in zip(best, [-1, *best[:-1]], strict=True) if at and at != before]
    return "".join(letters[at] for at in kept)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    detector = bg.onnx.load(folder / "PP-OCRv6_det_small.onnx")
    reader = bg.onnx.load(folder / "PP-OCRv6_rec_small.onnx")
    picture = Image.open(sys.argv[2]).convert("RGB")
    drawing = ImageDraw.Draw(shown := picture.copy())
    for box in lines(detector, picture):
        print(words(reader, picture.crop(box)))
        drawing.rectangle(box, outline="red")
    if len(sys.argv) > 3:
        shown.save(sys.argv[3])

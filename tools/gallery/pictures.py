"""Pictures of notebooks: on the gallery's cards, and in its documentation."""

import io
from typing import Any

from PIL import Image, ImageOps

from gallery.saved import GALLERY, pictures

CARDS = GALLERY / "pictures"
DOCS = GALLERY.parents[1] / "docs" / "gallery"
CARD_SIZE = 480, 270
_LEAST_WIDTH = 480
_QUALITY = 86

#: The number of the picture in the notebook, for notebooks whose card is not the last one.
CHOSEN = {"nbody": 2, "mandelbrot": 1, "digits": 0, "retrained": 0, "chat": 0, "letters": 1}

#: The part of the picture that a card shows (left, top, right, bottom), where labels of the whole
#: picture would be too small to read.
PARTS = {"chat": (192, 0, 363, 96), "digits": (0, 0, 490, 240), "text": (30, 18, 480, 271)}


def save_pictures(name: str, notebook: Any) -> None:
    """Write the picture of a notebook's card, and that of the documentation."""
    found = pictures(notebook)
    image = Image.open(io.BytesIO(found[CHOSEN.get(name, -1)])).convert("RGB")
    if image.width < _LEAST_WIDTH:
        factor = -(-_LEAST_WIDTH // image.width)
        image = image.resize(
            (image.width * factor, image.height * factor), Image.Resampling.BICUBIC
        )
    image.save(DOCS / f"{name}.jpg", quality=_QUALITY, optimize=True)
    save_card(name)


def save_card(name: str) -> None:
    """Write the picture of a notebook's card from that of the documentation."""
    CARDS.mkdir(exist_ok=True)
    with Image.open(DOCS / f"{name}.jpg") as image:
        if name in PARTS:
            part = image.convert("RGB").crop(PARTS[name])
            card = ImageOps.pad(part, CARD_SIZE, Image.Resampling.LANCZOS, color="white")
        else:
            card = ImageOps.fit(image.convert("RGB"), CARD_SIZE, Image.Resampling.LANCZOS)
    card.save(CARDS / f"{name}.jpg", quality=_QUALITY, optimize=True)

"""The images that ``draw`` and ``plot`` return outside of a page."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.files import replacing
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import elementwise
from browsergpu.functions.images import png


class Picture(Shown):
    """An image that :func:`draw` or :func:`plot` returns outside of a page.

    Jupyter shows it as the result of a cell. The GPU computes the image, and the first use of its
    pixels reads them, once.

    Attributes
    ----------
    height, width : int
        Its pixels.
    name : str
        The ``canvas_id``, since there is no canvas.
    """

    def __init__(self, image: Array, name: str) -> None:
        self.height, self.width = image.shape[:2]
        self.name = name
        # Computed from the values of now: later writes to the drawn array do not change it.
        known = elementwise.where(elementwise.isnan(image), 0, elementwise.clip(image, 0, 1))
        self._pixels: Array | None = (known * 255 + 0.5).astype(np.uint8)
        self._png = b""

    def _facts(self) -> str:
        return f"of {self.width} × {self.height} on {self.name}"

    def _repr_png_(self) -> bytes:
        if self._pixels is not None:
            pixels = self._pixels.numpy().reshape(self.height, self.width, -1)
            self._png = png.encode(pixels)
            self._pixels = None
        return self._png

    def save(self, path: str | PathLike[str]) -> None:
        """Write the image to a PNG file.

        Parameters
        ----------
        path : str or path-like
            The file, whose name ends in ".png". An existing file is replaced.

        Raises
        ------
        InvalidType
            If ``path`` is no path. The class is a TypeError.
        InvalidArgument
            If the name does not end in ".png". The class is a ValueError.
        """
        if not isinstance(path, str | PathLike):
            raise InvalidType("save", "path", path, "a str or a path")
        file = Path(fspath(path))
        if file.suffix.lower() != ".png":
            raise InvalidArgument("save", "path", path, "the name of a .png file")
        data = self._repr_png_()
        with replacing(file) as target:
            target.write(data)

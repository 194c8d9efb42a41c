"""Grids of images, as ``torchvision.utils``."""

from __future__ import annotations

from math import ceil
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, InvalidType, UnknownName
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.torch.tensors.public import returning_tensors
from browsergpu.torch.tensors.tensor import is_tensor
from browsergpu.torch.vision.transforms.functional import to_pil_image


def _scaled(images: Any, value_range: Any, axes: Any) -> Any:
    """Return images with their values scaled from a range to 0 and 1."""
    if value_range is None:
        low = statistics.min(images, axis=axes, keepdims=True)
        high = statistics.max(images, axis=axes, keepdims=True)
    else:
        low, high = value_range
    width = elementwise.maximum(high - low, 1e-5) if value_range is None else max(high - low, 1e-5)
    inside = images if value_range is None else elementwise.clip(images, float(low), float(high))
    return (inside - low) / width


@returning_tensors
def make_grid(
    tensor: Any, nrow: int = 8, padding: int = 2, normalize: bool = False, value_range: Any = None,
    scale_each: bool = False, pad_value: float = 0.0,
) -> Any:  # fmt: skip
    """Return one image [C, H, W] of many.

    Parameters
    ----------
    tensor : Tensor or list of Tensor
        Images [N, C, H, W] or [C, H, W] or [H, W], or a list of images of one shape.
    nrow : int, optional
        Images in a row.
    padding : int, optional
        Pixels between the images.
    normalize : bool, optional
        Whether to scale the values to 0 and 1.
    value_range : (float, float), optional
        The range that becomes 0 and 1, by default from the minimum to the maximum.
    scale_each : bool, optional
        Whether each image has its own range.
    pad_value : float, optional
        The value between the images.
    """
    op = "make_grid"
    if isinstance(tensor, list | tuple):
        tensor = manipulation.stack(list(tensor))
    if not is_tensor(tensor) and not hasattr(tensor, "node"):
        raise InvalidType(op, "tensor", tensor, "a tensor or a list of tensors")
    x = tensor
    if x.ndim == 2:
        x = manipulation.expand_dims(x, 0)
    if x.ndim == 3:
        x = manipulation.expand_dims(x, 0)
    if x.ndim != 4 or nrow < 1 or padding < 0:
        raise InvalidArgument(op, "tensor", tensor, "have 2, 3 or 4 axes")
    if x.shape[1] == 1:
        x = manipulation.concat([x] * 3, axis=1)
    if value_range is not None and not normalize:
        raise InvalidArgument(op, "value_range", value_range, "None without normalize=True")
    if normalize:
        x = _scaled(x, value_range, (1, 2, 3) if scale_each else None)
    count, channels, height, width = x.shape
    if count == 1:
        return manipulation.squeeze(x, 0)
    columns = min(nrow, count)
    rows = ceil(count / columns)
    tall, wide = height + padding, width + padding
    shape = (channels, rows * tall + padding, columns * wide + padding)
    grid = creation.full(shape, pad_value, dtype=x.dtype, device=x.device)
    for n in range(count):
        top, left = n // columns * tall + padding, n % columns * wide + padding
        grid[:, top : top + height, left : left + width] = x[n]
    return grid


def save_image(tensor: Any, fp: Any, format: str | None = None, **options: Any) -> None:
    """Write images to a file, as a grid. Waits for the GPU.

    Parameters
    ----------
    tensor : Tensor or list of Tensor
        Images with values from 0 to 1, as for :func:`make_grid`.
    fp : str, path or file
        The file.
    format : str, optional
        The format, by default that of the file's name.
    **options
        Arguments of :func:`make_grid`.
    """
    grid = make_grid(tensor, **options)
    bytes_of = elementwise.clip(grid * 255 + 0.5, 0.0, 255.0).astype("uint8")
    to_pil_image(returning_tensors(lambda: bytes_of)()).save(fp, format=format)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torchvision.utils.{name}", "it is not available.")

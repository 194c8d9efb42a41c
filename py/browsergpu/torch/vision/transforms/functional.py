"""Functions of images, as ``torchvision.transforms.functional``.

An image is a tensor of shape [..., C, H, W], computed on the GPU, or an image of Pillow, computed
by Pillow.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from typing import Any, cast

import numpy as np

from browsergpu import nn
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.functions import creation, data_types, elementwise, manipulation
from browsergpu.torch.tensors.public import returning_tensors
from browsergpu.torch.tensors.tensor import as_tensors, is_tensor

#: The weights of red, green and blue in a gray image.
_GRAY = (0.2989, 0.587, 0.114)


class InterpolationMode(Enum):
    """The ways to resize an image."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


def pillow(op: str) -> Any:
    """Return the module ``PIL.Image``. Raises Unsupported without Pillow."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        message = "it needs Pillow. Install it: %pip install pillow."
        raise Unsupported(op, message) from None
    return Image


def is_pil(image: Any) -> bool:
    """Return whether an image is Pillow's."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def _checked(op: str, image: Any) -> bool:
    """Return whether an image is a tensor. Raises InvalidType if it is no image."""
    if is_pil(image):
        return False
    if not is_tensor(image):
        raise InvalidType(op, "img", image, "a tensor or an image of Pillow")
    if image.ndim < 2:
        raise InvalidArgument(op, "img", image, "have at least 2 axes, [..., H, W]")
    return True


def size_of(op: str, image: Any) -> tuple[int, int]:
    """Return the height and the width of an image."""
    if _checked(op, image):
        height, width = image.shape[-2:]
        return height, width
    width, height = image.size
    return height, width


def get_image_size(img: Any) -> list[int]:
    """Return the width and the height of an image."""
    return list(size_of("get_image_size", img)[::-1])


def get_dimensions(img: Any) -> list[int]:
    """Return the channels, the height and the width of an image."""
    height, width = size_of("get_dimensions", img)
    if is_pil(img):
        return [len(img.getbands()), height, width]
    return [img.shape[-3] if img.ndim > 2 else 1, height, width]


def pair_of(op: str, name: str, given: Any) -> tuple[int, int]:
    """Return two sizes that are given as one integer, or as a sequence of one or two."""
    several = list(given) if isinstance(given, Sequence) else [given]
    if len(several) not in (1, 2) or not all(isinstance(one, int | np.integer) for one in several):
        raise InvalidArgument(op, name, given, "an integer, or a sequence of one or two")
    return int(several[0]), int(several[-1])


# -- conversions -----------------------------------------------------------------------------------


def _bands(image: Any) -> np.ndarray:
    """Return the pixels of Pillow's image, [C, H, W]."""
    pixels = np.array(image)
    if image.mode == "1":
        pixels = 255 * pixels.astype(np.uint8)
    return np.moveaxis(pixels if pixels.ndim == 3 else pixels[..., None], -1, 0)


def pil_to_tensor(pic: Any) -> Any:
    """Return the pixels of Pillow's image as a tensor [C, H, W] of its own dtype."""
    if not is_pil(pic):
        raise InvalidType("pil_to_tensor", "pic", pic, "an image of Pillow")
    return as_tensors(creation.asarray(np.asarray(_bands(pic), order="C")))


def to_tensor(pic: Any) -> Any:
    """Return an image as a tensor [C, H, W]. Bytes become floats from 0 to 1.

    Parameters
    ----------
    pic : PIL.Image.Image or numpy.ndarray
        An array has the shape [H, W, C] or [H, W].
    """
    if is_pil(pic):
        pixels = _bands(pic)
    elif isinstance(pic, np.ndarray) and pic.ndim in (2, 3):
        pixels = np.moveaxis(pic if pic.ndim == 3 else pic[..., None], -1, 0)
    else:
        expected = "an image of Pillow or a NumPy array of 2 or 3 axes"
        raise InvalidType("to_tensor", "pic", pic, expected)
    found = creation.asarray(np.asarray(pixels, order="C"))
    if pixels.dtype == np.uint8:
        found = data_types.astype(found, "float32") / 255
    return as_tensors(found)


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """Return Pillow's image of a tensor [C, H, W] or an array [H, W, C]. Waits for the GPU."""
    op = "to_pil_image"
    Image = pillow(op)
    if is_tensor(pic):
        if pic.ndim not in (2, 3):
            raise InvalidArgument(op, "pic", pic, "have 2 or 3 axes")
        pixels = pic.detach().numpy()
        if pixels.dtype.kind == "f" and mode != "F":
            pixels = (pixels * 255).astype(np.uint8)
        pixels = np.moveaxis(pixels if pixels.ndim == 3 else pixels[None], 0, -1)
    elif isinstance(pic, np.ndarray) and pic.ndim in (2, 3):
        pixels = pic if pic.ndim == 3 else pic[..., None]
    else:
        raise InvalidType(op, "pic", pic, "a tensor or a NumPy array of 2 or 3 axes")
    if pixels.shape[-1] not in (1, 2, 3, 4):
        raise InvalidArgument(op, "pic", pic, "have 1 to 4 channels")
    if pixels.dtype != np.uint8 and pixels.shape[-1] != 1:
        raise InvalidType(op, "pic", pixels.dtype, "uint8 for several channels")
    found = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    if mode is not None and mode != found.mode:
        if len(Image.new(mode, (1, 1)).getbands()) != len(found.getbands()):
            expected = f"a mode of {len(found.getbands())} channels"
            raise InvalidArgument(op, "mode", mode, expected)
        found = Image.frombytes(mode, found.size, found.tobytes())
    return found


def convert_image_dtype(image: Any, dtype: Any = np.dtype("float32")) -> Any:  # noqa: B008
    """Return an image in another dtype, with its values scaled to the range of the dtype."""
    op = "convert_image_dtype"
    _checked(op, image)
    own, wanted = image.dtype, np.dtype(dtype)
    if own == wanted:
        return image
    if own.kind == "f" and wanted.kind == "f":
        return image.to(wanted)
    if own.kind == "f":
        if wanted.itemsize > 2:
            raise InvalidArgument(op, "dtype", wanted, "a float dtype, or of 8 or 16 bits")
        return as_tensors(data_types.astype(image * (np.iinfo(wanted).max + 1.0 - 1e-3), wanted))
    if wanted.kind == "f":
        return as_tensors(data_types.astype(image, wanted) / np.iinfo(own).max)
    raise InvalidArgument(op, "dtype", wanted, "a float dtype for an image of integers")


def normalize(tensor: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    """Return ``(tensor - mean) / std``, with one mean and deviation for each channel."""
    op = "normalize"
    if not is_tensor(tensor) or tensor.dtype.kind != "f":
        raise InvalidType(op, "tensor", tensor, "a tensor of floats")
    if tensor.ndim < 3:
        raise InvalidArgument(op, "tensor", tensor, "have at least 3 axes, [..., C, H, W]")
    given = [np.asarray(x, np.float32) for x in (mean, std)]
    for name, x in zip(("mean", "std"), given, strict=True):
        if x.size not in (1, tensor.shape[-3]):
            expected = f"one number, or one for each of the {tensor.shape[-3]} channels"
            raise InvalidArgument(op, name, x, expected)
    if (given[1] == 0).any():
        raise InvalidArgument(op, "std", std, "different from 0")
    own, by = (
        creation.asarray(x.reshape(-1, 1, 1) if x.ndim else x, device=tensor.device) for x in given
    )
    found = (tensor - own.astype(tensor.dtype)) / by.astype(tensor.dtype)
    return tensor.copy_(found) if inplace else as_tensors(found)


# -- sizes -----------------------------------------------------------------------------------------


def _new_size(op: str, old: tuple[int, int], size: Any, longest: int | None) -> tuple[int, int]:
    several = list(size) if isinstance(size, Sequence) else [size]
    if len(several) == 2:
        if longest is not None:
            raise InvalidArgument(op, "max_size", longest, "None beside two sizes")
        return pair_of(op, "size", size)
    edge, _ = pair_of(op, "size", size)
    short, long = sorted(old)
    new = [edge, int(edge * long / short)]
    if longest is not None:
        if longest <= edge:
            raise InvalidArgument(op, "max_size", longest, f"more than {edge}, the size")
        if new[1] > longest:
            new = [int(longest * new[0] / new[1]), longest]
    return (new[0], new[1]) if old[0] <= old[1] else (new[1], new[0])


def resize(
    img: Any, size: Any, interpolation: Any = InterpolationMode.BILINEAR,
    max_size: int | None = None, antialias: bool | None = True,
) -> Any:  # fmt: skip
    """Return an image in another size.

    Parameters
    ----------
    img : Tensor or PIL.Image.Image
        The image, [..., C, H, W].
    size : int or sequence of int
        Height and width. One integer is the size of the shorter edge.
    interpolation : InterpolationMode, optional
        NEAREST, NEAREST_EXACT, BILINEAR or BICUBIC.
    max_size : int, optional
        The largest size of the longer edge, beside one integer.
    antialias : bool, optional
        Whether to widen the filter when shrinking. Pillow always does. For BILINEAR and BICUBIC.
    """
    op = "resize"
    mode = InterpolationMode(interpolation)
    old = size_of(op, img)
    new = _new_size(op, old, size, max_size)
    if not _checked(op, img):
        Image = pillow(op)
        names = {"nearest-exact": "NEAREST"}
        how = getattr(Image.Resampling, names.get(mode.value, mode.name))
        return img.resize(new[::-1], how)
    if new == old:
        return img
    smooth = mode in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
    given = img if img.dtype.kind == "f" else img.to(np.dtype("float32"))
    lead = tuple(img.shape[:-2])
    flat = manipulation.reshape(given, (1, -1, *old))
    options = {"align_corners": False, "antialias": bool(antialias)} if smooth else {}
    resized = nn.interpolate(flat, size=new, mode=mode.value, **options)
    found = manipulation.reshape(resized, (*lead, *new))
    if img.dtype.kind == "f":
        return as_tensors(found)
    if smooth:
        limits = np.iinfo(img.dtype)
        found = elementwise.clip(elementwise.round(found), float(limits.min), float(limits.max))
    return as_tensors(data_types.astype(found, img.dtype))


def _sides(op: str, padding: Any) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom padding."""
    several = [padding] if isinstance(padding, int) else list(padding)
    if len(several) not in (1, 2, 4):
        raise InvalidArgument(op, "padding", padding, "an integer, or a sequence of 1, 2 or 4")
    if len(several) == 1:
        several *= 2
    left, top, right, bottom = several if len(several) == 4 else (*several, *several)
    return left, top, right, bottom


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """Return an image with a border.

    Parameters
    ----------
    img : Tensor or PIL.Image.Image
        The image, [..., C, H, W].
    padding : int or sequence of int
        One number, (left and right, top and bottom), or (left, top, right, bottom).
    fill : number or sequence of numbers, optional
        The value of a constant border, or one value for each channel.
    padding_mode : str, optional
        "constant", "edge", "reflect" or "symmetric".
    """
    op = "pad"
    modes = ("constant", "edge", "reflect", "symmetric")
    if padding_mode not in modes:
        raise InvalidArgument(op, "padding_mode", padding_mode, f"one of {', '.join(modes)}")
    left, top, right, bottom = _sides(op, padding)
    if min(left, top, right, bottom) < 0:
        raise InvalidArgument(op, "padding", padding, "at least 0")
    if not _checked(op, img):
        pillow(op)
        from PIL import Image, ImageOps

        if padding_mode == "constant":
            return ImageOps.expand(img, border=(left, top, right, bottom), fill=fill)
        pixels, mode = np.array(img), cast(Any, padding_mode)
        ways = [(top, bottom), (left, right), (0, 0)][: pixels.ndim]
        return Image.fromarray(np.pad(pixels, ways, mode=mode))
    ways = [(0, 0)] * (img.ndim - 2) + [(top, bottom), (left, right)]
    if padding_mode != "constant":
        return as_tensors(ABOVE.namespace.pad(img, ways, mode=padding_mode))
    fills = list(fill) if isinstance(fill, list | tuple) else [fill]
    channels = img.shape[-3] if img.ndim > 2 else 1
    if len(fills) not in (1, channels):
        raise InvalidArgument(op, "fill", fill, f"a number, or {channels} numbers for the channels")
    if len(fills) == 1:
        return as_tensors(ABOVE.namespace.pad(img, ways, constant_values=fills[0]))
    made = [ABOVE.namespace.pad(img[..., n : n + 1, :, :], ways, constant_values=value)
            for n, value in enumerate(fills)]  # fmt: skip
    return as_tensors(manipulation.concat(made, axis=-3))


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Return a rectangle of an image. Pixels outside of the image are 0."""
    op = "crop"
    if min(height, width) < 0:
        raise InvalidArgument(op, "height", (height, width), "at least 0")
    if not _checked(op, img):
        return img.crop((left, top, left + width, top + height))
    rows, columns = img.shape[-2:]
    right, bottom = left + width, top + height
    outside = [max(-left, 0), max(-top, 0), max(right - columns, 0), max(bottom - rows, 0)]
    part = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    return pad(part, outside) if any(outside) else part


def center_crop(img: Any, output_size: Any) -> Any:
    """Return the center of an image. A smaller image gets a border of 0."""
    op = "center_crop"
    height, width = pair_of(op, "output_size", output_size)
    rows, columns = size_of(op, img)
    if width > columns or height > rows:
        missing_x, missing_y = max(width - columns, 0), max(height - rows, 0)
        img = pad(
            img,
            (missing_x // 2, missing_y // 2, (missing_x + 1) // 2, (missing_y + 1) // 2),
        )
        rows, columns = size_of(op, img)
    return crop(img, round((rows - height) / 2), round((columns - width) / 2), height, width)


def resized_crop(
    img: Any, top: int, left: int, height: int, width: int, size: Any,
    interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True,
) -> Any:  # fmt: skip
    """Return a rectangle of an image in another size."""
    part = crop(img, top, left, height, width)
    return resize(part, size, interpolation, antialias=antialias)


def hflip(img: Any) -> Any:
    """Return an image with left and right swapped."""
    if _checked("hflip", img):
        return as_tensors(manipulation.flip(img, axis=-1))
    return img.transpose(pillow("hflip").Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    """Return an image with top and bottom swapped."""
    if _checked("vflip", img):
        return as_tensors(manipulation.flip(img, axis=-2))
    return img.transpose(pillow("vflip").Transpose.FLIP_TOP_BOTTOM)


@returning_tensors
def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Return the gray image of red, green and blue, with one or three equal channels."""
    op = "rgb_to_grayscale"
    if num_output_channels not in (1, 3):
        raise InvalidArgument(op, "num_output_channels", num_output_channels, "1 or 3")
    if not _checked(op, img):
        gray = img.convert("L")
        return gray if num_output_channels == 1 else gray.convert("RGB")
    if img.ndim < 3 or img.shape[-3] not in (1, 3):
        raise InvalidArgument(op, "img", img, "have 1 or 3 channels, [..., C, H, W]")
    found = img
    if img.shape[-3] == 3:
        red, green, blue = (img[..., n : n + 1, :, :] * w for n, w in enumerate(_GRAY))
        found = data_types.astype(red + green + blue, img.dtype, copy=False)
    shape = (*found.shape[:-3], num_output_channels, *found.shape[-2:])
    return manipulation.broadcast_to(found, shape).__copy__()


to_grayscale = rgb_to_grayscale

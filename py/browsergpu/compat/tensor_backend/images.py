"""Image filters. Only these functions read u8 as 0..1."""

from __future__ import annotations

from collections.abc import Callable

from browsergpu.compat.tensor_backend.handles import TensorHandle
from browsergpu.compat.tensor_backend.store import TensorStore
from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.device.device import Device
from browsergpu.engine.tensors import images
from browsergpu.engine.tensors.operand_checks import has_shape
from browsergpu.engine.tensors.view import View

_PICTURES = (DType.F32, DType.F16, DType.U8)


class Images(TensorStore):
    """The image filters, from gaussian_blur to sharpen."""

    def gaussian_blur(self, input: TensorHandle, out: TensorHandle, sigma: float) -> None:
        """Blur by a Gaussian of sigma pixels, cut at radius ceil(3 sigma), with replicated borders.

        Images are [H, W] or [H, W, C] with values in 0..1. All filters clamp their results to this
        range.
        """
        op = "gaussian_blur"
        width_of_bell = checks.real(op, "sigma", sigma)
        if not 0 < width_of_bell <= 1000:
            raise InvalidArgument(op, "sigma", sigma, "a number above 0, at most 1000 pixels")

        device, x, y = self._image(op, input, out)
        if x.size:
            images.gaussian_blur(device, op, x, y, width_of_bell)

    def sobel_edges(self, input: TensorHandle, out: TensorHandle, threshold: float) -> None:
        """Set 1 where the Sobel gradient magnitude of the luminance is above threshold, else 0."""
        self._filter("sobel_edges", images.stencil, "sobel", input, out, "threshold", threshold)

    def sharpen(self, input: TensorHandle, out: TensorHandle) -> None:
        """Apply the 3 × 3 filter 0 -1 0 / -1 5 -1 / 0 -1 0, clamped, with replicated borders.

        Alpha stays the same.
        """
        self._filter("sharpen", images.stencil, "sharpen", input, out, "amount", 0.0)

    def grayscale(self, input: TensorHandle, out: TensorHandle) -> None:
        """Convert colors to 0.299 r + 0.587 g + 0.114 b. The shape and alpha stay the same."""
        self._filter("grayscale", images.point, "grayscale", input, out, "amount", 0.0)

    def threshold(self, input: TensorHandle, out: TensorHandle, value: float) -> None:
        """Set 1 where x >= value, else 0. Alpha stays the same."""
        self._filter("threshold", images.point, "threshold", input, out, "value", value)

    def brightness(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        """Compute x factor, clamped. Alpha stays the same."""
        self._filter("brightness", images.point, "brightness", input, out, "factor", factor)

    def contrast(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        """Compute (x - 0.5) factor + 0.5, clamped. Alpha stays the same."""
        self._filter("contrast", images.point, "contrast", input, out, "factor", factor)

    def invert_colors(self, input: TensorHandle, out: TensorHandle) -> None:
        """Compute 1 - x. Alpha stays the same."""
        self._filter("invert_colors", images.point, "invert", input, out, "amount", 0.0)

    def _filter(
        self,
        op: str,
        apply: Callable[[Device, str, str, View, View, float], None],
        function: str,
        input: TensorHandle,
        out: TensorHandle,
        name: str,
        amount: float,
    ) -> None:
        number = checks.real(op, name, amount)
        device, x, y = self._image(op, input, out)
        if x.size:
            apply(device, op, function, x, y, number)

    def _image(self, op: str, input: TensorHandle, out: TensorHandle) -> tuple[Device, View, View]:
        device = self._ready(op)
        x = self._tensor(op, "input", input, _PICTURES)
        y = self._tensor(op, "out", out, _PICTURES)
        if len(x.shape) not in (2, 3) or (len(x.shape) == 3 and not 1 <= x.shape[2] <= 4):
            raise InvalidArgument(op, "input", x, "have shape [H, W] or [H, W, 1 to 4 channels]")
        has_shape(op, "out", y, x.shape)
        return device, x, y

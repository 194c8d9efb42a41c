"""Image filters: the only functions that read u8 as 0..1."""

from __future__ import annotations

from collections.abc import Callable

from browsergpu.core import checks
from browsergpu.device.device import Device
from browsergpu.core.dtypes import DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.gpu.memory import Allocation
from browsergpu.kernels import images
from browsergpu.array.staging import Staging, Tensor
from browsergpu.api.tensor_backend.contract import TensorHandle
from browsergpu.api.tensor_backend.store import TensorStore

#: Takes the device, input, output, height, width and channels.
_Run = Callable[[Device, Allocation, Allocation, int, int, int], None]

_PICTURES = (DType.F32, DType.F16, DType.U8)


class Images(TensorStore):
    """gaussian_blur, sobel_edges, grayscale, threshold, brightness, contrast, invert_colors,
    sharpen."""

    def gaussian_blur(self, input: TensorHandle, out: TensorHandle, sigma: float) -> None:
        op = "gaussian_blur"
        width_of_bell = checks.real(op, "sigma", sigma)
        if not 0 < width_of_bell <= 1000:
            raise InvalidArgument(op, "sigma", sigma, "a number above 0, at most 1000 pixels")

        def run(
            device: Device, x: Allocation, y: Allocation, height: int, width: int, channels: int
        ) -> None:
            images.gaussian_blur(device, x, y, height, width, channels, width_of_bell)

        self._filter(op, input, out, run)

    def sobel_edges(self, input: TensorHandle, out: TensorHandle, threshold: float) -> None:
        self._stencil("sobel_edges", "sobel", input, out, "threshold", threshold)

    def sharpen(self, input: TensorHandle, out: TensorHandle) -> None:
        self._stencil("sharpen", "sharpen", input, out, "amount", 0.0)

    def _stencil(
        self,
        op: str,
        kernel: str,
        input: TensorHandle,
        out: TensorHandle,
        name: str,
        amount: float,
    ) -> None:
        number = checks.real(op, name, amount)

        def run(
            device: Device, x: Allocation, y: Allocation, height: int, width: int, channels: int
        ) -> None:
            images.stencil(device, kernel, x, y, height, width, channels, number)

        self._filter(op, input, out, run)

    def grayscale(self, input: TensorHandle, out: TensorHandle) -> None:
        self._point("grayscale", "grayscale", input, out, "amount", 0.0)

    def threshold(self, input: TensorHandle, out: TensorHandle, value: float) -> None:
        self._point("threshold", "threshold", input, out, "value", value)

    def brightness(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        self._point("brightness", "brightness", input, out, "factor", factor)

    def contrast(self, input: TensorHandle, out: TensorHandle, factor: float) -> None:
        self._point("contrast", "contrast", input, out, "factor", factor)

    def invert_colors(self, input: TensorHandle, out: TensorHandle) -> None:
        self._point("invert_colors", "invert", input, out, "amount", 0.0)

    def _point(
        self,
        op: str,
        kernel: str,
        input: TensorHandle,
        out: TensorHandle,
        name: str,
        amount: float,
    ) -> None:
        number = checks.real(op, name, amount)

        def run(
            device: Device, x: Allocation, y: Allocation, height: int, width: int, channels: int
        ) -> None:
            images.point(device, kernel, x, y, height * width, channels, number)

        self._filter(op, input, out, run)

    def _filter(self, op: str, input: TensorHandle, out: TensorHandle, run: _Run) -> None:
        """Calls ``run(device, x, y, height, width, channels)``, unless the picture is empty."""
        device, x, y, height, width, channels = self._picture(op, input, out)
        if x.size:
            with Staging(device, op, pictures=True) as staging:
                target = staging.write(y, x)
                run(device, staging.read(x), target, height, width, channels)

    def _picture(
        self, op: str, input: TensorHandle, out: TensorHandle
    ) -> tuple[Device, Tensor, Tensor, int, int, int]:
        device = self._ready(op)
        x = self._tensor(op, "input", input, _PICTURES)
        y = self._tensor(op, "out", out, _PICTURES)
        if len(x.shape) not in (2, 3) or (len(x.shape) == 3 and not 1 <= x.shape[2] <= 4):
            raise InvalidArgument(
                op, "input", input, f"[H, W] or [H, W, 1 to 4 channels], not shape {x.shape}"
            )
        self._same_shape(op, "out", out, y, x)
        height, width, channels = (*x.shape, 1)[:3]
        return device, x, y, height, width, channels

"""Mixed precision, as ``torch.amp``. It uses float16."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.autograd import precision
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.networks.optimizers import scaling
from browsergpu.torch.tensors.devices import notice
from browsergpu.torch.tensors.dtypes import MissingType
from browsergpu.torch.tensors.tensor import as_tensors


class autocast(precision.autocast):
    """Compute matrix products in float16, in a ``with`` block or for a function."""

    def __init__(
        self, device_type: Any = "webgpu", dtype: Any = None, enabled: bool = True,
        cache_enabled: bool = True,
    ) -> None:  # fmt: skip
        if isinstance(device_type, bool):
            enabled = device_type
        del cache_enabled
        if isinstance(dtype, MissingType):
            message = f"autocast: WebGPU has no {dtype.name}, so float16 is used. Use a GradScaler."
            notice("autocast", message)
            dtype = None
        super().__init__("float16" if dtype is None else dtype, enabled)


class GradScaler(scaling.GradScaler):
    """Scales losses, so that gradients in float16 do not underflow."""

    def __init__(self, device: Any = "webgpu", *args: Any, **options: Any) -> None:
        given = args if isinstance(device, str) else (device, *args)
        super().__init__(*given, **options)

    def scale(self, outputs: Any) -> Any:
        """Return a loss times the scale."""
        return as_tensors(super().scale(outputs))


def custom_fwd(fwd: Any = None, *, device_type: str = "webgpu", cast_inputs: Any = None) -> Any:
    """Return a forward function as it is."""
    del device_type  # there is one device
    if cast_inputs is not None:
        advice = "Cast in the function."
        raise InvalidArgument("custom_fwd", "cast_inputs", cast_inputs, "None", advice)
    return fwd if fwd is not None else lambda f: f


custom_bwd = custom_fwd

"""The text of tensors, as PyTorch prints them."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import readback
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import plain
from browsergpu.torch.tensors.dtypes import BOOL, DTYPES, INT64, default_float
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.tensor import Tensor, TrackedTensor

_OPTIONS: dict[str, Any] = {
    "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None
}  # fmt: skip


@public(method=False)
def set_printoptions(
    precision: Any = None, threshold: Any = None, edgeitems: Any = None, linewidth: Any = None,
    profile: Any = None, sci_mode: Any = None,
) -> None:  # fmt: skip
    """Set how tensors are printed."""
    if profile == "full":
        _OPTIONS["threshold"] = 2**62
    elif profile is not None:
        _OPTIONS.update(precision=4 if profile == "default" else 2, threshold=1000)
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth, "sci_mode": sci_mode,
    }  # fmt: skip
    _OPTIONS.update({name: value for name, value in given.items() if value is not None})


def _float_format(data: np.ndarray) -> Any:
    digits = _OPTIONS["precision"]
    finite = np.abs(data[np.isfinite(data) & (data != 0)].astype(np.float64))
    whole = bool(finite.size) and bool(np.all(finite == np.round(finite)))
    if not finite.size:
        return lambda x: f"{x:.0f}." if np.isfinite(x) else str(float(x))
    high, low = float(finite.max()), float(finite.min())
    is_scientific = _OPTIONS["sci_mode"]
    if is_scientific is None:
        is_scientific = high / low > 1000 or high > 1e8 or (low < 1e-4 and not whole)
        is_scientific = high > 1e8 if whole else is_scientific
    if is_scientific:
        return lambda x: f"{x:.{digits}e}" if np.isfinite(x) else str(float(x))
    if whole:
        return lambda x: f"{x:.0f}." if np.isfinite(x) else str(float(x))
    return lambda x: f"{x:.{digits}f}" if np.isfinite(x) else str(float(x))


def _text(data: np.ndarray) -> str:
    if data.dtype.kind == "b":
        show: Any = str
    elif data.dtype.kind in "iu":
        show = str
    elif data.dtype.kind == "c":
        real, imag = _float_format(data.real), _float_format(data.imag)
        show = lambda x: f"{real(x.real)}{'-' if x.imag < 0 else '+'}{imag(abs(x.imag))}j"  # noqa: E731
    else:
        show = _float_format(data)
    if not data.ndim:
        return str(show(data[()]))
    shown = data.reshape(-1)[:10000]
    if data.dtype.kind == "f" and np.isfinite(shown).any():  # as PyTorch, by the finite numbers
        shown = shown[np.isfinite(shown)]
    width = max((len(show(one)) for one in shown), default=0)
    return np.array2string(
        data, separator=", ", prefix="tensor(", max_line_width=_OPTIONS["linewidth"],
        threshold=_OPTIONS["threshold"], edgeitems=_OPTIONS["edgeitems"],
        formatter={"all": lambda x: show(x).rjust(width)},
    )  # fmt: skip


def text(self: Any) -> str:
    """Return the tensor's text, as PyTorch prints it. Waits for the GPU."""
    own = plain(self)
    facts = []
    if not readback.can_read(own):
        facts = ["...", f"size={tuple(self.shape)}"]
    elif not self.numel():
        facts = ["[]"] + ([f"size={tuple(self.shape)}"] if self.ndim != 1 else [])
    else:
        facts = [_text(Array.numpy(own))]
    if self.dtype not in (default_float(), INT64, BOOL, DTYPES["complex64"]):
        facts.append(f"dtype=torch.{self.dtype.name}")
    if self.grad_fn is not None:
        facts.append(f"grad_fn={self.grad_fn!r}")
    elif self.requires_grad:
        facts.append("requires_grad=True")
    return f"tensor({', '.join(facts)})"


def _format(self: Any, spec: str) -> str:
    return text(self) if self.ndim and not spec else format(plain(self).item(), spec)


for _kind in (Tensor, TrackedTensor):  # not of vmap, which have no values of their own
    for _name, _method in (("__repr__", text), ("__str__", text), ("__format__", _format)):
        setattr(_kind, _name, _method)

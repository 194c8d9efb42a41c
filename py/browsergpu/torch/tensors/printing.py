"""The text of tensors, as PyTorch prints them."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import readback
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import plain
from browsergpu.networks.parameter import Parameter
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
        _OPTIONS.update(precision=4, threshold=2**62, edgeitems=3, linewidth=80)
    elif profile is not None:
        edge = 2 if profile == "short" else 3
        precision = 2 if profile == "short" else 4
        _OPTIONS.update(precision=precision, threshold=1000, edgeitems=edge, linewidth=80)
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth, "sci_mode": sci_mode,
    }  # fmt: skip
    _OPTIONS.update({name: value for name, value in given.items() if value is not None})
    _OPTIONS["sci_mode"] = sci_mode  # which None resets


def _float_format(data: np.ndarray) -> tuple[Any, int]:
    """Return the function that writes a float, and the width of the widest finite number."""
    digits = _OPTIONS["precision"]
    numbers = data[np.isfinite(data) & (data != 0)].astype(np.float64)
    is_whole = bool(np.all(numbers == np.ceil(numbers)))
    is_scientific = _OPTIONS["sci_mode"]
    if not numbers.size:
        is_scientific = False
    elif is_scientific is None:
        high, low = np.abs(numbers).max(), np.abs(numbers).min()
        is_scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    form = f".{digits}e" if is_scientific else ".0f" if is_whole else f".{digits}f"
    end = "." if is_whole and not is_scientific else ""

    def show(x: Any) -> str:
        return f"{x:{form}}{end}" if np.isfinite(x) else f"{x:{form}}"

    return show, max((len(show(one)) for one in numbers.tolist()), default=1)


def _format_of(data: np.ndarray) -> tuple[Any, int]:
    """Return the function that writes an element at its width, and the width."""
    kind = data.dtype.kind
    if kind == "c":
        (real, width), (imag, other) = _float_format(data.real), _float_format(data.imag)

        def show(x: Any) -> str:
            own = (imag(x.imag).rjust(other) + "j").lstrip()
            sign = "" if own[0] in "+-" else "+"
            return f"{real(x.real).rjust(width)}{sign}{own}"

        return show, width + other + 1
    if kind == "f":
        write, width = _float_format(data)
        return lambda x: write(x).rjust(width), width
    width = max((len(str(one)) for one in data.reshape(-1).tolist()), default=1)
    return lambda x: str(x).rjust(width), width


def _edges(data: np.ndarray) -> np.ndarray:
    """Return the elements that a summary shows."""
    edge = _OPTIONS["edgeitems"]
    for axis, extent in enumerate(data.shape):
        if extent > 2 * edge:
            places = [*range(edge), *range(extent - edge, extent)]
            data = np.take(data, places, axis=axis)
    return data


def _lines(data: np.ndarray, indent: int, is_short: bool, show: Any, width: int) -> str:
    edge = _OPTIONS["edgeitems"]
    is_cut = is_short and len(data) > 2 * edge
    shown = [*data[:edge], *data[len(data) - edge :]] if is_cut else list(data)
    if data.ndim > 1:
        rows = [_lines(row, indent + 1, is_short, show, width) for row in shown]
        if is_cut:
            rows.insert(edge, "...")
        return "[" + ("," + "\n" * (data.ndim - 1) + " " * (indent + 1)).join(rows) + "]"
    words = [show(one.item()) for one in shown]
    if is_cut:
        words.insert(edge, " ...")
    count = max(1, (_OPTIONS["linewidth"] - indent) // (width + 2))
    parts = [", ".join(words[n : n + count]) for n in range(0, len(words), count)]
    return "[" + (",\n" + " " * (indent + 1)).join(parts) + "]"


def _text(data: np.ndarray) -> str:
    is_short = data.size > _OPTIONS["threshold"]
    show, width = _format_of(_edges(data) if is_short else data)
    return _lines(data, len("tensor("), is_short, show, width) if data.ndim else show(data.item())


def _joined(first: str, facts: list[str]) -> str:
    """Return a tensor's text with facts, each on a new line where the line would be too long."""
    found = f"tensor({first}"
    for fact in facts:
        length = len(found) - found.rfind("\n") - 1
        is_long = length + len(fact) + 3 > _OPTIONS["linewidth"]
        found += (",\n" + " " * len("tensor(") if is_long else ", ") + fact
    return found + ")"


def text(self: Any) -> str:
    """Return the tensor's text, as PyTorch prints it. Waits for the GPU."""
    own = plain(self)
    facts = []
    is_plain = self.dtype in (default_float(), INT64, BOOL, DTYPES["complex64"])
    if not readback.can_read(own):
        first, facts = "...", [f"size={tuple(self.shape)}"]
    elif not self.numel():
        first = "[]"
        if self.ndim != 1:
            facts = [f"size={tuple(self.shape)}"]
        is_plain = self.dtype == default_float()
    else:
        first = _text(Array.numpy(own))
    if not is_plain:
        facts.append(f"dtype=torch.{self.dtype.name}")
    if self.grad_fn is not None:
        facts.append(f"grad_fn={self.grad_fn!r}")
    elif self.requires_grad:
        facts.append("requires_grad=True")
    found = _joined(first, facts)
    return f"Parameter containing:\n{found}" if isinstance(self, Parameter) else found


def _format(self: Any, spec: str) -> str:
    return text(self) if self.ndim and not spec else format(plain(self).item(), spec)


for _kind in (Tensor, TrackedTensor):  # not of vmap, which have no values of their own
    for _name, _method in (("__repr__", text), ("__str__", text), ("__format__", _format)):
        setattr(_kind, _name, _method)

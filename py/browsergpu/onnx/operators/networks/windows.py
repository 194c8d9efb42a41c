"""Windows of convolutions and pooling: pads, strides, and the extents of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core.showing import Shown


@dataclass(repr=False, slots=True)
class Windows(Shown):
    """Windows over the axes after the channels."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]

    @property
    def pads(self) -> list[int]:
        """The pads before all axes, then those after them."""
        return [*self.before, *self.after]

    def spans(self) -> list[int]:
        """Return the extents of a window, with its gaps."""
        return [(n - 1) * gap + 1 for n, gap in zip(self.kernel, self.dilations, strict=True)]

    def counts(self, extents: Sequence[int], ceil_mode: int = 0) -> list[int]:
        """Return the number of windows along each axis."""
        found = []
        for at, (extent, span) in enumerate(zip(extents, self.spans(), strict=True)):
            step = self.strides[at]
            rest = extent + self.before[at] + self.after[at] - span
            count = (-(-rest // step) if ceil_mode else rest // step) + 1
            # A window that would begin behind the array is left out.
            if ceil_mode and (count - 1) * step >= extent + self.before[at]:
                count -= 1
            found.append(count)
        return found


def windows(
    extents: Sequence[int], kernel: Sequence[int], strides: Any, dilations: Any, pads: Any,
    auto_pad: str,
) -> Windows:  # fmt: skip
    """Return the windows that a node's attributes describe."""
    rank = len(extents)
    found = Windows(
        list(kernel), list(strides or [1] * rank), list(dilations or [1] * rank), [0] * rank,
        [0] * rank,
    )  # fmt: skip
    lists = (found.kernel, found.strides, found.dilations)
    if any(len(one) != rank for one in lists):
        raise ValueError(f"kernel_shape, strides and dilations must have {rank} numbers")
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        for at, (extent, span) in enumerate(zip(extents, found.spans(), strict=True)):
            count = -(-extent // found.strides[at])
            total = max((count - 1) * found.strides[at] + span - extent, 0)
            less = total // 2
            first = less if auto_pad == "SAME_UPPER" else total - less
            found.before[at], found.after[at] = first, total - first
    elif auto_pad == "NOTSET" and pads:
        if len(pads) != 2 * rank:
            raise ValueError(f"pads must have {2 * rank} numbers, got {len(pads)}")
        found.before, found.after = list(pads[:rank]), list(pads[rank:])
    elif auto_pad not in ("VALID", "NOTSET", ""):
        raise ValueError(f"auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID: {auto_pad!r}")
    return found

"""``jax.lax``: control flow, slices, reductions, products and elementwise functions."""

from __future__ import annotations

import difflib
from enum import Enum
from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax.lax import control as _control
from browsergpu.jax.lax import operations as _operations
from browsergpu.jax.lax import products as _products
from browsergpu.jax.lax import slices as _slices
from browsergpu.jax.lax import windows as _windows


class Precision(Enum):
    """The precision of products. All have that of float32."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


class RoundingMethod(Enum):
    """How :func:`round` treats halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class GatherScatterMode(Enum):
    """How ``x.at[]`` treats indices out of bounds."""

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2


_OF_MODULES = {
    _control: ("scan", "map", "fori_loop", "while_loop", "cond", "switch", "associative_scan"),
    _slices: (
        "stop_gradient", "select", "select_n", "slice", "slice_in_dim", "index_in_dim",
        "dynamic_slice", "dynamic_update_slice", "dynamic_index_in_dim", "dynamic_slice_in_dim",
        "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim", "concatenate", "pad",
        "reshape", "transpose", "rev", "squeeze", "expand_dims", "collapse", "broadcast",
        "broadcast_in_dim", "broadcast_shapes", "iota", "broadcasted_iota", "split",
        "convert_element_type", "bitcast_convert_type", "sort", "sort_key_val", "top_k", "argmax",
        "argmin", "full", "full_like", "unstack",
    ),
    _windows: ("reduce", "reduce_window", "padtype_to_pads"),
    _products: (
        "dot_general", "dot", "batch_matmul", "ConvDimensionNumbers", "conv_dimension_numbers",
        "conv_general_dilated", "conv", "conv_with_general_padding", "conv_transpose",
    ),
}  # fmt: skip
_NAMES: dict[str, Any] = {
    name: getattr(module, name) for module, names in _OF_MODULES.items() for name in names
}
_NAMES |= _operations.FUNCTIONS | _windows.FUNCTIONS
_NAMES |= {"Precision": Precision, "RoundingMethod": RoundingMethod,
           "GatherScatterMode": GatherScatterMode}  # fmt: skip
__all__ = sorted(_NAMES)
globals().update(_NAMES)
_ADVICE = {
    **dict.fromkeys(("gather", "scatter", "scatter_add", "scatter_mul", "scatter_min",
                     "scatter_max", "scatter_sub", "scatter_apply"),
                    "Use x[indices] and x.at[indices]."),
    **dict.fromkeys(("psum", "pmean", "pmax", "pmin", "all_gather", "all_to_all", "ppermute",
                     "axis_index", "axis_size", "psum_scatter", "pswapaxes", "pshuffle"),
                    "Axes have no names. Sum along the axis of the result of vmap."),
    "fft": "Use jnp.fft.",
    "linalg": "Use jnp.linalg or jax.scipy.linalg.",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.lax' has no attribute {name!r}")
    advice = _ADVICE.get(name)
    if advice is None:
        close = difflib.get_close_matches(name, __all__, 1)
        advice = f"Did you mean {close[0]}?" if close else "browsergpu.jax.numpy may have it."
    raise UnknownName(f"browsergpu.jax.lax.{name}", f"it is not available. {advice}")

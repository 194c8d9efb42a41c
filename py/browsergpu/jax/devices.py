"""Devices, waits, settings and shapes, with JAX's names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from browsergpu.arrays import context
from browsergpu.arrays.array import Array
from browsergpu.autograd import trees
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.functions import meta
from browsergpu.jax import tree
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.numpy.creation import asarray
from browsergpu.jax.transforms import as_array

__all__ = ["Device"]


def devices(backend: str | None = None) -> list[Any]:
    """Return the GPUs that are open."""
    _check_backend("devices", backend)
    return list(context.devices())


def _check_backend(op: str, backend: str | None) -> None:
    if backend not in (None, "gpu"):
        raise InvalidArgument(op, "backend", backend, "None or 'gpu'")


def local_devices(process_index: Any = None, backend: str | None = None) -> list[Any]:
    """Return the GPUs that are open."""
    if process_index not in (None, 0):
        raise InvalidArgument("local_devices", "process_index", process_index, "None or 0")
    return devices(backend)


def device_count(backend: str | None = None) -> int:
    """Return the number of GPUs that are open."""
    return len(devices(backend))


local_device_count = device_count


def process_count(backend: str | None = None) -> int:
    """Return 1: there is one process."""
    _check_backend("process_count", backend)
    return 1


def process_index(backend: str | None = None) -> int:
    """Return 0: there is one process."""
    _check_backend("process_index", backend)
    return 0


def default_backend() -> str:
    """Return "gpu"."""
    return "gpu"


def clear_caches() -> None:
    """Do nothing. Caches are bounded, and the graphs of a function end with it."""


def device_put(x: Any, device: Any = None, **options: Any) -> Any:
    """Return a tree with its leaves as arrays on a device.

    Parameters
    ----------
    x : tree
        Numbers, NumPy arrays and arrays.
    device : Device, optional
        The device. By default, arrays stay on theirs.
    **options
        ``src``, ``donate`` and ``may_alias``, hints without effect.

    Returns
    -------
    tree
        The tree of arrays.
    """
    unknown = options.keys() - {"src", "donate", "may_alias"}
    if unknown:
        raise InvalidArgument("device_put", "options", sorted(unknown), "src, donate or may_alias")
    return tree.map(partial(asarray, device=device), x)


def device_get(x: Any) -> Any:
    """Return a tree with its arrays as NumPy arrays. Waits for the GPU."""
    return tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """Wait until the arrays of a tree are computed, and return the tree."""
    for leaf in tree.leaves(x):
        if isinstance(leaf, Array):
            leaf.reshape(-1)[:1].detach().numpy()
    return x


def copy_to_host_async(x: Any) -> Any:
    """Return the tree. Reads wait for the GPU."""
    return x


class ShapeDtypeStruct(Shown):
    """A shape and a dtype, without values."""

    def __init__(self, shape: Any, dtype: Any, *, sharding: Any = None, weak_type: Any = False,
                 **options: Any) -> None:  # fmt: skip
        if sharding is not None or options:
            given = {"sharding": sharding, **options}
            raise InvalidArgument(
                "ShapeDtypeStruct", "sharding", given, "None, as there is one GPU"
            )
        self.shape = tuple(shape)
        self.dtype = dtypes.dtype_of("ShapeDtypeStruct", dtype)
        self.weak_type = bool(weak_type)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"

    def __eq__(self, other: object) -> bool:
        is_same = isinstance(other, ShapeDtypeStruct)
        return is_same and (self.shape, self.dtype) == (other.shape, other.dtype)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def _facts(self) -> str:
        return f"of shape {self.shape}"


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the shapes and dtypes of a function's results, without computing them.

    Parameters
    ----------
    fun : callable
        The function.
    *args, **kwargs
        Its arguments: arrays, numbers, ShapeDtypeStructs, and trees of these.

    Returns
    -------
    tree
        A ShapeDtypeStruct for each array of the result.
    """

    def described(x: Any) -> Any:
        if isinstance(x, ShapeDtypeStruct | Array | np.ndarray):
            return as_jax(meta.stand_in(tuple(x.shape), dtypes.narrowed(x.dtype)))
        own = as_array(x)
        return as_jax(meta.stand_in((), own.dtype)) if isinstance(own, Array) else x

    found = fun(*trees.map_tree(described, list(args)), **trees.map_tree(described, kwargs))
    return trees.map_tree(_struct, found)


def _struct(x: Any) -> Any:
    own = as_array(x)
    return ShapeDtypeStruct(own.shape, own.dtype) if isinstance(own, Array) else x


class _Config(Shown):
    """``jax.config``. Only values that hold here can be set."""

    #: The settings that can be read, and updated to the same value.
    _VALUES: ClassVar[dict[str, Any]] = {
        "jax_enable_x64": False, "jax_platform_name": "gpu", "jax_platforms": "gpu",
        "jax_disable_jit": False, "jax_debug_nans": False, "jax_threefry_partitionable": True,
        "jax_default_prng_impl": "threefry2x32", "jax_numpy_dtype_promotion": "standard",
        "jax_default_matmul_precision": None,
    }  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name in self._VALUES:
            return self._VALUES[name]
        raise AttributeError(f"jax.config has no setting {name!r}")

    def update(self, name: str, value: Any) -> None:
        """Set a value that is set already. Raises Unsupported for every other value."""
        if name not in self._VALUES or self._VALUES[name] != value:
            advice = "The GPU has no 64-bit floats." if name == "jax_enable_x64" else ""
            raise Unsupported("jax.config.update", f"{name}={value!r} is not available. {advice}")

    def _facts(self) -> str:
        return f"of {len(self._VALUES)} settings"


config = _Config()


class _Debug(Shown):
    """``jax.debug``: prints and calls with the values of arrays."""

    def print(self, fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
        """Print a text with the values of arrays, with the rules of ``str.format``.

        Waits for the GPU. A function under ``jit`` then runs without a graph.
        """
        del ordered  # prints are in order
        print(fmt.format(*_values(list(args)), **_values(kwargs)))

    def callback(self, callback: Callable[..., Any], *args: Any, ordered: bool = False,
                 **kwargs: Any) -> None:  # fmt: skip
        """Call a function with the values of arrays."""
        del ordered
        callback(*_values(list(args)), **_values(kwargs))

    def _facts(self) -> str:
        return "of jax"


def _values(x: Any) -> Any:
    return trees.map_tree(_value, x)


def _value(x: Any) -> Any:
    return x.detach() if isinstance(x, Array) and x.is_tracked and hasattr(x, "detach") else x


debug = _Debug()

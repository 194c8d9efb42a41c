"""JAX's names for browsergpu: ``import browsergpu.jax as jax``.

Arrays are immutable, and live on the GPU of WebGPU. Each function is a few lines over the function
of browsergpu with the same purpose. Names that are not available raise an error that says so.
"""

from __future__ import annotations

import difflib
from contextlib import nullcontext
from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax import (
    dtypes,
    flatten_util,
    lax,
    nn,
    numpy,
    random,
    scipy,
    sharding,
    tree,
    tree_util,
    typing,
)
from browsergpu.jax.arrays.array import JaxArray as Array
from browsergpu.jax.custom import custom_jvp, custom_vjp
from browsergpu.jax.devices import (
    Device,
    ShapeDtypeStruct,
    block_until_ready,
    clear_caches,
    config,
    copy_to_host_async,
    debug,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    eval_shape,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)
from browsergpu.jax.installing import install
from browsergpu.jax.transforms import (
    checkpoint,
    disable_jit,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linearize,
    remat,
    value_and_grad,
    vjp,
    vmap,
)

#: The version of JAX whose names these are.
__version__ = "0.10.2+browsergpu"

__all__ = [
    "Array", "Device", "ShapeDtypeStruct", "block_until_ready", "checkpoint", "clear_caches",
    "config", "copy_to_host_async", "custom_jvp", "custom_vjp", "debug", "default_backend",
    "device_count", "device_get", "device_put", "devices", "disable_jit", "dtypes", "eval_shape",
    "flatten_util", "grad", "hessian", "install", "jacfwd", "jacobian", "jacrev", "jit", "jvp",
    "lax", "linearize", "local_device_count", "local_devices", "named_scope", "nn", "numpy",
    "process_count", "process_index", "random", "remat", "scipy", "sharding", "tree", "tree_util",
    "typing", "value_and_grad", "vjp", "vmap",
]  # fmt: skip

#: Names of JAX that are missing, with advice.
_ADVICE = {
    "pmap": "Use browsergpu.dask for several GPUs.",
    "shard_map": "Use browsergpu.dask for several GPUs.",
    "make_mesh": "Use browsergpu.dask for several GPUs.",
    "NamedSharding": "Use browsergpu.dask for several GPUs.",
    "make_jaxpr": "Use browsergpu.explain(x), or f.explain() of a function under jit.",
    "tree_map": "Use jax.tree.map.",
    "pure_callback": "Call the function itself, as jit reads values where they are needed.",
    "enable_x64": "The GPU has no 64-bit floats.",
    "profiler": "Use browsergpu.profile.",
    "experimental": "It has no modules here.",
    "export": "Use browsergpu's notebooks, or save the arrays with jnp.save.",
    "stages": "Use f.explain() of a function under jit.",
    "distributed": "There is one process.",
    "linear_transpose": "Use jax.vjp.",
    "ops": "Use browsergpu.jax.numpy and x.at[].",
    "image": "Use browsergpu.image.",
}


def named_scope(name: str) -> Any:
    """Return a ``with`` block without effect. Profiles name the lines of the code."""
    del name
    return nullcontext()


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax' has no attribute {name!r}")
    advice = _ADVICE.get(name)
    if advice is None:
        close = difflib.get_close_matches(name, __all__, 1)
        advice = f"Did you mean {close[0]}?" if close else "browsergpu may have a function for it."
    raise UnknownName(f"browsergpu.jax.{name}", f"it is not available. {advice}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Registration of arrays with Dask, including Dask's creation functions."""

from __future__ import annotations

from typing import Any

import dask.array as da
from dask import config
from dask.array.backends import ArrayBackendEntrypoint
from dask.array.dispatch import percentile_lookup, to_numpy_dispatch
from dask.base import normalize_token
from dask.sizeof import sizeof

from browsergpu.arrays.array import Array
from browsergpu.dask import chunks
from browsergpu.dask.metas import meta as make_meta
from browsergpu.dask.metas import meta_like
from browsergpu.dask.random import Philox, RandomState
from browsergpu.engine.core.showing import Shown

NAME = "browsergpu"


def _created(name: str, *args: Any, meta: Any = None, **options: Any) -> da.Array:
    with config.set({"array.backend": "numpy"}):
        return getattr(da, name)(*args, meta=make_meta(0) if meta is None else meta, **options)


class Backend(Shown, ArrayBackendEntrypoint):  # type: ignore[misc]
    """Backend for ``dask.config.set({"array.backend": "browsergpu"})`` and ``x.to_backend()``."""

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        """Return the function that copies a chunk to the GPU."""
        return chunks.to_gpu

    @classmethod
    def to_backend(cls, data: da.Array, **options: Any) -> da.Array:
        """Return a Dask array whose chunks are on GPUs."""
        if isinstance(data._meta, Array):
            return data
        return data.map_blocks(chunks.to_gpu, meta=meta_like(data._meta), **options)

    @property
    def RandomState(self) -> type[RandomState]:
        """The class for ``dask.array.random.normal`` and related functions."""
        return RandomState

    @property
    def default_bit_generator(self) -> type[Philox]:
        """The bit generator for ``dask.array.random.default_rng``."""
        return Philox

    @staticmethod
    def ones(*args: Any, **options: Any) -> da.Array:
        """Return a Dask array of ones."""
        return _created("ones", *args, **options)

    @staticmethod
    def zeros(*args: Any, **options: Any) -> da.Array:
        """Return a Dask array of zeros."""
        return _created("zeros", *args, **options)

    @staticmethod
    def empty(*args: Any, **options: Any) -> da.Array:
        """Return a Dask array with undefined contents."""
        return _created("empty", *args, **options)

    @staticmethod
    def full(*args: Any, **options: Any) -> da.Array:
        """Return a Dask array filled with a value."""
        return _created("full", *args, **options)

    @staticmethod
    def arange(*args: Any, like: Any = None, **options: Any) -> da.Array:
        """Return a Dask array of evenly spaced values."""
        with config.set({"array.backend": "numpy"}):
            return da.arange(*args, like=make_meta(0) if like is None else like, **options)


da.register_chunk_type(Array)
da.backends.array_creation_dispatch.register_backend(NAME, Backend())
percentile_lookup.register(Array, chunks.percentiles)
to_numpy_dispatch.register(Array, chunks.to_numpy)
normalize_token.register(Array, chunks.token)
sizeof.register(Array, chunks.held_bytes)

"""Arrays as chunks of ``dask.array``, for many GPUs of one or several machines.

``import browsergpu.dask`` registers them with Dask. ``pip install browsergpu[dask]`` installs the
dependencies. docs/scale.md describes the use and the limits.
"""

try:
    # imported only for their registrations
    from browsergpu.dask import registration as _registration  # noqa: F401
    from browsergpu.dask import serialization as _serialization  # noqa: F401
    from browsergpu.dask.cluster import LocalCluster
    from browsergpu.dask.metas import meta
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] not in ("dask", "distributed"):
        raise
    raise ImportError("browsergpu.dask needs Dask. Run pip install browsergpu[dask].") from error

__all__ = ["LocalCluster", "meta"]

"""browsergpu's arrays as chunks of ``dask.array``: many GPUs, of one machine or of many.

``import browsergpu.dask`` makes them known to Dask; ``pip install browsergpu[dask]`` brings what it
needs. docs/scale.md says how to use it, and what bounds it.
"""

try:
    # What these register at Dask's is all that is wanted of them here.
    from browsergpu.dask import registration as _registration  # noqa: F401
    from browsergpu.dask import serialising as _serialising  # noqa: F401
    from browsergpu.dask.cluster import LocalCluster
    from browsergpu.dask.metas import meta
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] not in ("dask", "distributed"):
        raise
    raise ImportError("browsergpu.dask needs Dask: pip install browsergpu[dask]") from error

__all__ = ["LocalCluster", "meta"]

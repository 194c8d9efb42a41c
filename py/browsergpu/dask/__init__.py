"""browsergpu's arrays as chunks of ``dask.array``: many GPUs, of one machine or of many.

``import browsergpu.dask`` makes them known to Dask; ``pip install browsergpu[dask]`` brings what it
needs. docs/scale.md says how to use it, and what bounds it.
"""

# What these register at Dask's is all that is wanted of them here.
from browsergpu.dask import registration as _registration  # noqa: F401
from browsergpu.dask import serialising as _serialising  # noqa: F401
from browsergpu.dask.cluster import LocalCluster
from browsergpu.dask.metas import meta

__all__ = ["LocalCluster", "meta"]

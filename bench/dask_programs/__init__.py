"""Programs of ``bench/dask_scale.py``. Each checks its result."""

from collections.abc import Callable

from dask_programs import exchange, kmeans, overheads, products, reduction
from dask_programs.measuring import Measured

PROGRAMS: dict[str, Callable[..., Measured | None]] = {
    "product": products.product,
    "moved": products.moved,
    "kmeans": kmeans.kmeans,
    "reduction": reduction.reduction,
    "several": reduction.several,
    "transpose": exchange.transpose,
    "sort": exchange.sort,
    "transfer": overheads.transfer,
    "tasks": overheads.tasks,
}

"""Views of any shape and strides, as in ``numpy.lib.stride_tricks``."""

from numpy import broadcast_shapes
from numpy.lib import stride_tricks as _theirs

from browsergpu.compat.numpy.manipulation.indices import as_strided as _as_strided
from browsergpu.compat.numpy.namespace import of_main as _of_main
from browsergpu.compat.numpy.protocols import public as _public
from browsergpu.compat.numpy.wrappers import door as _door

__all__ = [
    "as_strided",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "sliding_window_view",
]
as_strided = _door("as_strided", _as_strided, _theirs.as_strided)
broadcast_arrays = _of_main("broadcast_arrays")
broadcast_to = _of_main("broadcast_to")
sliding_window_view = _public(_theirs.sliding_window_view)

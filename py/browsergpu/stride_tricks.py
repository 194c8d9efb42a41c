"""Views of any shape and strides, as in ``numpy.lib.stride_tricks``."""

from numpy import broadcast_shapes
from numpy.lib import stride_tricks as _theirs

from browsergpu.compat.numpy.manipulation.indices import as_strided as _as_strided
from browsergpu.compat.numpy.namespace import main_attribute as _main_attribute
from browsergpu.compat.numpy.protocols import public as _public
from browsergpu.compat.numpy.wrappers import public_function as _public_function

__all__ = [
    "as_strided",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "sliding_window_view",
]
as_strided = _public_function("as_strided", _as_strided, _theirs.as_strided)
broadcast_arrays = _main_attribute("broadcast_arrays")
broadcast_to = _main_attribute("broadcast_to")
sliding_window_view = _public(_theirs.sliding_window_view)

"""Inspection of the array namespace, as in the Python Array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.context import current
from browsergpu.engine.core.element_types import DEFAULTS, FLOAT16, TYPES
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device, open_devices
from browsergpu.functions.data_types import isdtype


class NamespaceInfo(Shown):
    """Result of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """Return what the namespace supports.

        Returns
        -------
        dict
            Boolean indexing and data-dependent shapes are supported, and the number of axes has no
            limit. Functions with data-dependent shapes, such as ``nonzero``, wait for the GPU.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> Device:
        """Return the device of new arrays."""
        return current().device

    def devices(self) -> tuple[Device, ...]:
        """Return the open devices, without waiting.

        :func:`browsergpu.devices` opens all devices.
        """
        return tuple(open_devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the default dtypes of new arrays.

        Parameters
        ----------
        device : Device, optional
            Ignored, as all devices have the same dtypes.

        Returns
        -------
        dict
            The dtypes for "real floating", "complex floating", "integral" and "indexing".
        """
        return {
            "real floating": np.dtype(np.float32),
            "complex floating": np.dtype(np.complex64),
            "integral": DEFAULTS[int].numpy,
            "indexing": DEFAULTS[int].numpy,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes that the standard names. float16 is not among them.

        Parameters
        ----------
        device : Device, optional
            Ignored, as all devices have the same dtypes.
        kind : str or tuple of str, optional
            Only dtypes of this kind, as in ``isdtype``.

        Returns
        -------
        dict
            The dtypes by name.
        """
        return {
            one.name: one.numpy
            for one in TYPES
            if one is not FLOAT16 and (kind is None or isdtype(one.numpy, kind))
        }


def __array_namespace_info__() -> NamespaceInfo:
    """Return the inspection functions of the namespace.

    Returns
    -------
    NamespaceInfo
        Devices, dtypes and capabilities.
    """
    return NamespaceInfo()

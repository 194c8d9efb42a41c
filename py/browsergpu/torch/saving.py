"""``torch.save`` and ``torch.load``: PyTorch's zip of tensors, and safetensors.

Nothing in a file is run: only tensors, containers, numbers and text are rebuilt.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.files import opened
from browsergpu.engine.core.showing import Shown
from browsergpu.networks.files.safetensors import load_safetensors
from browsergpu.torch.nn.module import Parameter
from browsergpu.torch.tensors.creation import from_numpy
from browsergpu.torch.tensors.devices import device as Device
from browsergpu.torch.tensors.devices import device_of
from browsergpu.torch.tensors.dtypes import DTYPES
from browsergpu.torch.tensors.tensor import Size, as_tensors

_STORAGES = {
    "FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2", "LongStorage": "i8",
    "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1",
    "BoolStorage": "?", "ComplexFloatStorage": "c8", "BFloat16Storage": "bf16",
}  # fmt: skip
_STORAGE_OF = {np.dtype(of): name for name, of in _STORAGES.items() if of != "bf16"}


#: Classes and functions that ``safe_globals`` allows.
_safe: list[Any] = []


def _name_of(one: Any) -> tuple[str, str]:
    return one.__module__, one.__qualname__


class serialization(Shown):
    """``torch.serialization``."""

    class safe_globals:
        """Allow classes and functions in files that are loaded, in a ``with`` block."""

        def __init__(self, safe_globals: Any) -> None:
            self._given = list(safe_globals)

        def __enter__(self) -> None:
            _safe.extend(self._given)

        def __exit__(self, *_: object) -> None:
            del _safe[len(_safe) - len(self._given) :]

    @staticmethod
    def add_safe_globals(safe_globals: Any) -> None:
        """Allow classes and functions in files that are loaded from now on."""
        _safe.extend(safe_globals)


class _Storage:
    """The kind of a storage: a class of PyTorch by name."""

    def __init__(self, name: str) -> None:
        self.name = name


def _values(data: bytes, kind: str, order: Any) -> np.ndarray:
    if kind == "bf16":  # the upper half of a float32
        halves = np.frombuffer(data, f"{order}u2").astype(np.uint32)
        return (halves << 16).view(np.float32)
    found = np.frombuffer(data, np.dtype(kind).newbyteorder(order))
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def _tensor(
    storage: np.ndarray, offset: int, size: Any, stride: Any, requires_grad: bool = False, *_: Any
) -> Any:
    steps = tuple(step * storage.itemsize for step in stride)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if offset < 0 or any(n < 0 for n in (*size, *stride)):
        raise InvalidArgument("load", "file", offset, "a file of PyTorch")
    if 0 not in size and last >= storage.size:
        raise InvalidArgument("load", "file", last, "a file whose tensors lie in their storage")
    own = np.lib.stride_tricks.as_strided(storage[offset:], tuple(size), steps, writeable=False)
    found = from_numpy(np.asarray(own, order="C"))
    return found.requires_grad_() if requires_grad else found


def _parameter(data: Any, requires_grad: bool = True, *_: Any) -> Any:
    return Parameter(data, requires_grad)


class _Unpickler(pickle.Unpickler):
    """Rebuilds tensors, containers, numbers and text, and nothing else."""

    def __init__(self, file: Any, read: Any, order: str) -> None:
        super().__init__(file)
        self._read, self._order = read, order

    def find_class(self, module: str, name: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_parameter"): _parameter,
            ("collections", "OrderedDict"): OrderedDict,
            ("torch", "Size"): Size,
            ("torch", "device"): Device,
            ("builtins", "set"): set,
            ("__builtin__", "set"): set,
        }
        found = known.get((module, name))
        if found is None and module in ("torch", "torch.storage") and name in _STORAGES:
            found = _Storage(name)
        if found is None and module == "torch" and name in DTYPES:
            found = DTYPES[name]
        if found is None:
            found = next((one for one in _safe if _name_of(one) == (module, name)), None)
        if found is None:
            expected = "tensors, containers, numbers and text, or one of safe_globals"
            raise InvalidType("load", "file", f"an object of {module}.{name}", expected)
        return found

    def persistent_load(self, pid: Any) -> Any:
        kind, storage, key, _, count = pid
        if kind != "storage" or not isinstance(storage, _Storage):
            raise InvalidType("load", "file", kind, "storages")
        found = _values(self._read(str(key)), _STORAGES[storage.name], self._order)
        return found[:count]


def _bytes(f: Any) -> bytes:
    if isinstance(f, str | Path):
        return Path(f).read_bytes()
    found: bytes = f.read()
    return found


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: Any = None,
    mmap: Any = None, **also: Any,
) -> Any:  # fmt: skip
    """Load what ``torch.save`` wrote, or a file of safetensors, onto the GPU.

    Tensors of bfloat16 are loaded as float32, which holds all of their values.

    Parameters
    ----------
    f : str, Path or file
        The file.
    map_location, mmap
        Accepted. All tensors are on the GPU.
    weights_only : bool, optional
        Accepted. Only tensors, containers, numbers and text are loaded in any case.

    Raises
    ------
    InvalidType
        If the file holds other objects, such as a whole module.
    InvalidArgument
        If the file is neither a zip of PyTorch nor safetensors.
    """
    if pickle_module is not None or also:
        raise InvalidArgument("load", "arguments", also or pickle_module, "left out")
    del weights_only, mmap
    if isinstance(map_location, str | Device):
        device_of("load", map_location)
    data = _bytes(f)
    if data[:4] != b"PK\x03\x04":
        if data[8:9] == b"{":
            return as_tensors(load_safetensors(data))
        expected = "a file that torch.save wrote since PyTorch 1.6, or safetensors"
        raise InvalidArgument("load", "f", data[:8], expected)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = next((n for n in archive.namelist() if n.endswith("data.pkl")), None)
        if root is None:
            raise InvalidArgument("load", "f", archive.namelist()[:3], "have data.pkl")
        folder = root[: -len("data.pkl")]

        def read(key: str) -> bytes:
            return archive.read(f"{folder}data/{key}")

        order = "<"
        if f"{folder}byteorder" in archive.namelist():
            order = ">" if archive.read(f"{folder}byteorder") == b"big" else "<"
        return _Unpickler(io.BytesIO(archive.read(root)), read, order).load()


class _Global:
    """A name of PyTorch's, as pickles refer to it."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *_: Any) -> Any:
        raise TypeError(self.name)


_PurePickler: Any = vars(pickle)["_Pickler"]  # Python's own, which can write names


class _Pickler(_PurePickler):  # type: ignore[misc]
    """Writes tensors as PyTorch does."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, 2)
        self.data: list[bytes] = []

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _Data):
            self.data.append(obj.array.tobytes())
            kind = _Global("torch", _STORAGE_OF[obj.array.dtype])
            return "storage", kind, str(len(self.data) - 1), "cpu", obj.array.size
        return None

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        """Write an object."""
        if isinstance(obj, _Global):
            self.write(b"c" + f"{obj.module}\n{obj.name}\n".encode())
            return
        if isinstance(obj, Array) and id(obj) in self.memo:
            self.write(self.get(self.memo[id(obj)][0]))  # one tensor in several places
            return
        if isinstance(obj, Parameter):
            data: Any = obj
            args: Any = data.detach(), data.requires_grad, OrderedDict()
            self.save_reduce(_Global("torch._utils", "_rebuild_parameter"), args, obj=obj)
            return
        if isinstance(obj, Array):
            self._save_tensor(obj)
            return
        if isinstance(obj, Size):
            obj = tuple(obj)
        super().save(obj, save_persistent_id)

    def _save_tensor(self, x: Array) -> None:
        is_tracked = x.is_tracked
        data = np.asarray(np.asarray(x.detach()), order="C")
        steps = tuple(step // data.itemsize for step in data.strides)
        args: Any = _Data(data.reshape(-1)), 0, tuple(data.shape), steps, is_tracked, OrderedDict()
        self.save_reduce(_Global("torch._utils", "_rebuild_tensor_v2"), args, obj=x)


class _Data:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
         _use_new_zipfile_serialization: bool = True) -> None:  # fmt: skip
    """Save tensors, containers, numbers and text in PyTorch's format. Waits for the GPU.

    Parameters
    ----------
    obj : object
        Usually a ``state_dict()``.
    f : str, Path or file
        The file.

    Raises
    ------
    PicklingError
        For an object that cannot be saved, such as a local function.

    Notes
    -----
    A tensor in several places is saved once. Views are saved as tensors of their own.

    A whole module can be saved. To load it, name its classes in
    ``torch.serialization.safe_globals``, or save its ``state_dict()`` instead.
    """
    if pickle_module is not None or not _use_new_zipfile_serialization:
        raise InvalidArgument("save", "pickle_module", pickle_module, "left out")
    del pickle_protocol
    text = io.BytesIO()
    pickler = _Pickler(text)
    pickler.dump(obj)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", text.getvalue())
        archive.writestr("archive/byteorder", b"little")
        for key, data in enumerate(pickler.data):
            archive.writestr(f"archive/data/{key}", data)
        archive.writestr("archive/version", b"3\n")
    with opened("save", f) as target:
        target.write(whole.getvalue())

"""Custom compute shaders in WGSL."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.in_place import become
from browsergpu.arrays.numbers import python_number
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, two_devices
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.text.reflect import Reflection, reflect
from browsergpu.engine.tensors import custom
from browsergpu.functions.custom.memory import readable, writable
from browsergpu.functions.custom.operations import refuse_options

_OF_CUDA = re.compile(r'\b__global__\b|extern\s+"C"|\b(threadIdx|blockIdx|blockDim)\b')
_IN_WGSL = """Write

    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64)
    fn name(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < arrayLength(&y)) { y[id.x] = 2.0 * x[id.x]; }
    }

for __global__ void name(const float* x, float* y), and call kernel(-(-y.size // 64), x, y).
ElementwiseKernel translates C of one element."""
#: NumPy's 32-bit numbers, which have a type in WGSL.
_WORDS = (np.float32, np.int32, np.uint32)


class RawKernel:
    """A compute shader in WGSL, called with arrays and numbers.

    Parameters
    ----------
    code : str or bytes
        WGSL with its storage buffers in group 0.
    name : str, optional
        The entry point. Required if there are several.
    options : tuple
        CuPy's compiler options. Refused unless empty.

    Raises
    ------
    InvalidArgument
        If the code is CUDA C, or has no such entry point.

    Notes
    -----
    Arrays are bound to the storage buffers in the order of the binding numbers, packed in row-major
    order. float32, int32 and uint32 stay as they are, complex64 is vec2f, and bool is u32. Several
    elements of smaller types share a word.

    Numbers are the fields of the only ``var<uniform>``, in their order. A Python int is an i32, a
    float an f32 and a bool a u32. NumPy's numbers of 32 bits keep their type.

    The kernel writes to ``read_write`` arrays in place, and so to their views.

    Examples
    --------
    A kernel that doubles an array in place::

        double = RawKernel('''
            @group(0) @binding(0) var<storage, read_write> y: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
              if (id.x < arrayLength(&y)) { y[id.x] *= 2.0; }
            }''')
        double(-(-y.size // 64), y)
    """

    def __init__(self, code: str | bytes, name: str | None = None, options: Any = ()) -> None:
        op = "RawKernel"
        self._code = custom.source_text(op, "code", code)
        refuse_options(op, options=options)
        if _OF_CUDA.search(self._code):
            given = Description("CUDA C")
            raise InvalidArgument(op, "code", given, "WGSL", _IN_WGSL)
        self._reflection: Reflection = reflect(self._code)
        names = [entry.name for entry in self._reflection.entry_points]
        if name is None and len(names) == 1:
            name = names[0]
        if name not in names:
            raise InvalidArgument(op, "name", name, f"one of the entry points: {', '.join(names)}")
        #: The entry point.
        self.name: str = name
        storage = [one for one in self._reflection.resources if one.access in "rw"]
        self._access = [one.access for one in sorted(storage, key=lambda one: one.binding or 0)]

    @exclusive
    def __call__(self, grid: Any, *args: Any) -> None:
        """Run the shader.

        Parameters
        ----------
        grid : int or tuple of int
            Up to three numbers of workgroups.
        *args : Array or number
            Arrays for the storage buffers, and numbers for the uniform. CuPy's ``kernel(grid,
            block, args)`` is accepted if ``block`` is the workgroup size.

        Raises
        ------
        InvalidArgument
            If the number of arrays is wrong, or ``block`` is not the workgroup size.
        InvalidType
            If an argument is neither an array nor a real number, or the arrays are on two devices.
        """
        op = self.name
        if len(args) == 2 and isinstance(args[1], tuple | list):
            self._check_block(args[0])
            args = tuple(args[1])
        groups = custom.workgroups(op, grid)
        arrays = [x for x in args if isinstance(x, Array)]
        numbers = [x for x in args if not isinstance(x, Array)]
        words = [_word(op, x) for x in numbers]
        if len(arrays) != len(self._access):
            expected = f"{len(self._access)} arrays, one for each storage buffer of the kernel"
            raise InvalidArgument(op, "args", Description(f"{len(arrays)} arrays"), expected)
        if not arrays:
            raise InvalidArgument(op, "args", args, "have at least one array")
        device = arrays[0].device
        if any(x.device is not device for x in arrays):
            raise two_devices(op, "args")
        device.throttle(op)
        bound = [
            writable(x, arrays) if access == "w" else readable(x)
            for x, access in zip(arrays, self._access, strict=True)
        ]
        custom.dispatch(
            device, op, self._code, self.name, [x.node.storage.buffer for x in bound], groups,
            uniform_data=b"".join([*words, bytes(-4 * len(words) % 16)]) if words else None,
        )  # fmt: skip
        for x, made, access in zip(arrays, bound, self._access, strict=True):
            if access == "w":
                become(x, made)

    def _check_block(self, block: Any) -> None:
        given = block if checks.is_several(block) else (block,)
        counts = checks.dimensions(self.name, "block", given, minimum=1)
        entry = next(one for one in self._reflection.entry_points if one.name == self.name)
        size = entry.workgroup_size
        if None not in size and (*counts, 1, 1)[:3] != size:
            expected = f"{size}, the @workgroup_size of the kernel"
            raise InvalidArgument(self.name, "block", block, expected)

    def __repr__(self) -> str:
        return f"<RawKernel {self.name}>"


def _word(op: str, value: Any) -> bytes:
    if isinstance(value, _WORDS):
        return value.tobytes()
    given = value.item() if isinstance(value, np.generic) else value
    number = python_number(given)
    if isinstance(number, bool):
        return np.uint32(number).tobytes()
    if isinstance(number, int):
        if not -(2**31) <= number < 2**31:
            raise InvalidArgument(op, "args", number, "integers of int32, or np.uint32")
        return np.int32(number).tobytes()
    if isinstance(number, float):
        return np.float32(number).tobytes()
    raise InvalidType(op, "args", value, "arrays on the GPU and real numbers")

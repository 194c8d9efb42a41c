"""Random calls of a WasmBackend, and a model of its buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from hypothesis import note

from inside import reference, tolerances
from inside.comparison import assert_matches
from inside.fuzz import refusals
from inside.test_errors import CHOICES, COUNTS, GOOD, SCALARS, SHAPES
from inside.tolerances import Tolerance

MOST_BUFFERS = 12


@dataclass
class Memory:
    """A buffer: its known bytes, and a check of the expected contents until they are read."""

    pointer: int
    contents: np.ndarray  # uint8
    unchecked: Callable[[np.ndarray], int] | None = None  # checks bytes, returns how many


class Machine:
    """Makes random calls, one after another.

    Results are checked when a later call uses them, so that work queues up on the GPU.
    """

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.live: list[Memory] = []
        self.freed = [2**40]
        self.random = Random(0)

    def call(self, seed: int) -> None:
        """Make one call, selected by the seed."""
        self.random = Random(seed)
        while len(self.live) > MOST_BUFFERS:
            self._free(self.random.choice(self.live))
        if self.random.random() < 0.3:
            self._bad()
        else:
            self.random.choice(self._GOOD)(self)

    def forget(self) -> None:
        """Free what a failed call left, unchecked."""
        for memory in self.live:
            self.backend.free(memory.pointer)
        self.live.clear()
        self.freed = [2**40]  # so that examples are independent

    def finish(self) -> None:
        """Check and free everything."""
        for memory in self.live:
            self._check(memory)
            self.backend.free(memory.pointer)
        self.live.clear()

    # -- buffers ---------------------------------------------------------------------------------

    def _whole(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def _values(self, n: int) -> np.ndarray:
        generator = np.random.default_rng(self.random.getrandbits(32))
        values = generator.uniform(0.25, 4.0, n) * generator.choice([-1, 1], n)
        if self.random.random() < 0.5:
            values = np.round(values)
        return values.astype(np.float32)

    def _new(self, nbytes: int) -> Memory:
        pointer = self.backend.alloc(nbytes, keep=self.random.random() < 0.2)
        memory = Memory(pointer, np.zeros(nbytes, np.uint8))
        self._upload(memory, self._values(nbytes // 4 + 1).view(np.uint8)[:nbytes])
        self.live.append(memory)
        return memory

    def _upload(self, memory: Memory, data: np.ndarray) -> None:
        self._check(memory)
        self.backend.copy_htod(memory.pointer, data)
        memory.contents[: data.nbytes] = data.view(np.uint8)

    def _free(self, memory: Memory) -> None:
        self.live.remove(memory)
        self.backend.free(memory.pointer)
        self.freed.append(memory.pointer)

    def _check(self, memory: Memory) -> None:
        """Read a buffer if its expected contents have not been checked."""
        if memory.unchecked is None:
            return
        actual = np.full(memory.contents.size, 0xA5, np.uint8)
        self.backend.copy_dtoh(actual, memory.pointer)
        done = memory.unchecked(actual)
        assert (actual[done:] == memory.contents[done:]).all(), "bytes past the result changed"
        memory.contents, memory.unchecked = actual, None

    def _pick(self, n: int, *without: Memory) -> Memory:
        """Pick a buffer of at least n float32."""
        fitting = [
            m for m in self.live if m.contents.size >= 4 * n and all(m is not w for w in without)
        ]
        return self.random.choice(fitting) if fitting else self._new(4 * n + self._whole(0, 9))

    def _input(self, n: int, *without: Memory) -> tuple[Memory, np.ndarray]:
        """Pick a buffer and return its first n float32, none of them too large."""
        memory = self._pick(n, *without)
        self._check(memory)
        values = memory.contents[: 4 * n].view(np.float32)
        size = np.abs(values)
        if not ((size == 0) | ((size >= 2.0**-6) & (size <= 64))).all():
            self._upload(memory, self._values(n))
        return memory, memory.contents[: 4 * n].view(np.float32).copy()

    def _output(self, memory: Memory, expected: np.ndarray, tolerance: Tolerance) -> None:
        dtype = np.float16 if "float16" in tolerance.why else np.float32

        def check(actual: np.ndarray) -> int:
            nbytes = expected.size * np.dtype(dtype).itemsize
            found = actual[:nbytes].view(dtype).reshape(expected.shape)
            assert_matches(found, expected, **tolerance._asdict(), dtype=dtype)
            return nbytes

        self._check(memory)  # bytes after the result stay, so they must be known
        memory.unchecked = check

    # -- good calls ------------------------------------------------------------------------------

    def _alloc(self) -> None:
        memory = self._new(self._whole(0, 300))
        assert self.backend.buffer_bytes(memory.pointer) == memory.contents.size

    def _free_one(self) -> None:
        if self.live:
            self._free(self.random.choice(self.live))

    def _write(self) -> None:
        memory = self._pick(1)
        count = self._whole(0, memory.contents.size)
        self._upload(memory, self._values(count // 4 + 1).view(np.uint8)[:count])

    def _read(self) -> None:
        memory = self._pick(1)
        self._check(memory)
        count = self._whole(0, memory.contents.size)
        result = bytearray(b"\xa5" * count)
        self.backend.copy_dtoh(result, memory.pointer)
        assert bytes(result) == memory.contents[:count].tobytes()

    def _synchronize(self) -> None:
        self.backend.synchronize()

    def _unary(self) -> None:
        op, n = self.random.choice(reference.UNARY_OPS), self._whole(0, 40)
        x, values = self._input(n)
        y = self.random.choice([x, self._pick(n)])
        self._check(y)
        self.backend.unary(op, x.pointer, y.pointer, n)
        self._output_known(y, reference.unary(op, values), tolerances.unary(op, values))

    def _binary(self) -> None:
        op, n = self.random.choice(reference.BINARY_OPS), self._whole(0, 40)
        a, first = self._input(n)
        b, second = self._input(n)
        first = a.contents[: 4 * n].view(np.float32).copy()  # a and b may be the same
        y = self.random.choice([a, b, self._pick(n)])
        self._check(y)
        self.backend.binary(op, a.pointer, b.pointer, y.pointer, n)
        expected = reference.binary(op, first, second)
        self._output_known(y, expected, tolerances.binary(op, first, second))

    def _reduce(self) -> None:
        op = self.random.choice(reference.REDUCE_OPS)
        shape = [self._whole(1, 5) for _ in range(self._whole(1, 3))]
        axis = self._whole(-len(shape), len(shape) - 1)
        x, values = self._input(int(np.prod(shape)))
        values = values.reshape(shape)
        expected = np.asarray(reference.reduce(op, values, axis))
        y = self._pick(expected.size, x)
        self._check(y)
        self.backend.reduce(op, x.pointer, y.pointer, shape, axis)
        self._output_known(y, expected, tolerances.reduce(op, values, axis))

    def _gemm(self) -> None:
        m, n, k = (self._whole(1, 6) for _ in range(3))
        flip_a, flip_b = (self.random.random() < 0.5 for _ in range(2))
        alpha, beta = (self.random.choice([0.0, 1.0, -0.5]) for _ in range(2))
        a, left = self._input(m * k)
        b, right = self._input(k * n)
        left = a.contents[: 4 * m * k].view(np.float32).copy()
        c, old = self._input(m * n, a, b)
        left = left.reshape((k, m) if flip_a else (m, k))
        right = right.reshape((n, k) if flip_b else (k, n))
        old = old.reshape(m, n)
        options: Any = {"trans_a": flip_a, "trans_b": flip_b, "alpha": alpha, "beta": beta}
        names = {True: "trans", False: "no_trans"}
        self.backend.gemm(
            names[flip_a], names[flip_b], m, n, k, alpha, a.pointer, left.shape[1],
            b.pointer, right.shape[1], beta, c.pointer, n,
        )  # fmt: skip
        expected = reference.gemm(left, right, old, **options)
        magnitude = reference.gemm_magnitude(left, right, old, **options)
        self._output_known(c, expected, tolerances.gemm(magnitude, k))

    def _gemm_f16(self) -> None:
        m, n, k = (self._whole(1, 6) for _ in range(3))
        shapes, chosen, arrays = ((m, k), (k, n), (m, n)), [], []
        for shape in shapes:
            memory = self._pick(int(np.prod(shape)), *chosen)
            array = self._values(int(np.prod(shape))).astype(np.float16)
            self._upload(memory, array)
            chosen.append(memory)
            arrays.append(array.reshape(shape))
        a, b, c = (memory.pointer for memory in chosen)
        self.backend.gemm_f16(m, n, k, 1.0, a, b, 1.0, c)
        options: Any = {"trans_a": False, "trans_b": False, "alpha": 1.0, "beta": 1.0}
        expected = reference.gemm(*arrays, **options)
        magnitude = reference.gemm_magnitude(*arrays, **options)
        self._output_known(chosen[2], expected, tolerances.gemm_f16(magnitude, k))

    def _conv2d(self) -> None:
        inputs = (self._whole(1, 2), self._whole(1, 2), self._whole(2, 5), self._whole(2, 5))
        filters = (self._whole(1, 3), inputs[1], self._whole(1, 2), self._whole(1, 2))
        stride, padding = (self._whole(1, 2), self._whole(1, 2)), (self._whole(0, 1),) * 2
        shape = reference.conv2d_shape(inputs, filters, stride, padding)
        x, images = self._input(int(np.prod(inputs)))
        w, kernels = self._input(int(np.prod(filters)))
        images = x.contents[: 4 * images.size].view(np.float32).copy().reshape(inputs)
        kernels = kernels.reshape(filters)
        y = self._pick(int(np.prod(shape)), x, w)
        self._check(y)
        self.backend.conv2d_forward(
            x.pointer, inputs, w.pointer, filters, y.pointer, shape, stride, padding
        )
        expected = reference.conv2d(images, kernels, stride, padding)
        magnitude = reference.conv2d(np.abs(images), np.abs(kernels), stride, padding)
        terms = int(np.prod(filters[1:]))
        self._output_known(y, expected, tolerances.conv2d(magnitude, terms))

    def _attention(self) -> None:
        batch, heads, seq_q, seq_kv, dim = (self._whole(1, 3) for _ in range(5))
        causal = self.random.random() < 0.5
        queries, keys = (batch, heads, seq_q, dim), (batch, heads, seq_kv, dim)
        q, _ = self._input(int(np.prod(queries)))
        k, _ = self._input(int(np.prod(keys)))
        v, _ = self._input(int(np.prod(keys)))
        arrays = [
            m.contents[: 4 * int(np.prod(shape))].view(np.float32).copy().reshape(shape)
            for m, shape in ((q, queries), (k, keys), (v, keys))
        ]
        o = self._pick(int(np.prod(queries)), q, k, v)
        self._check(o)
        self.backend.attention(
            q.pointer, k.pointer, v.pointer, o.pointer, batch, heads, seq_q, seq_kv, dim, 0.5,
            causal,
        )  # fmt: skip
        expected = reference.attention(*arrays, scale=0.5, causal=causal)
        self._output_known(o, expected, tolerances.attention(*arrays, 0.5))

    def _output_known(self, memory: Memory, expected: Any, tolerance: Tolerance) -> None:
        """Expect a result in a buffer whose former contents are known."""
        assert memory.unchecked is None
        self._output(memory, np.asarray(expected), tolerance)

    _GOOD = (
        _alloc, _free_one, _write, _read, _synchronize, _unary, _unary, _binary, _binary, _reduce,
        _gemm, _gemm_f16, _conv2d, _attention,
    )  # fmt: skip

    # -- bad calls -------------------------------------------------------------------------------

    def _bad(self) -> None:
        op, call = self.random.choice([self._bad_op, self._bad_memory])()
        refusals.refused(self.backend, op, call)

    def _not_a_pointer(self) -> Any:
        return self.random.choice([*refusals.NOT_HANDLES, self.random.choice(self.freed)])

    def _bad_op(self) -> tuple[str, Callable[[], Any]]:
        """Return a valid call with one invalid argument."""
        op = self.random.choice(list(GOOD))
        arguments = dict(GOOD[op])
        kinds = {
            "pointer": [name for name, value in arguments.items() if value is ...],
            "count": COUNTS.get(op, []),
            "scalar": SCALARS.get(op, []),
            "shape": SHAPES.get(op, []),
            "choice": CHOICES.get(op, []),
        }
        for name in kinds["pointer"]:
            arguments[name] = self._pick(64).pointer
        kind = self.random.choice([kind for kind, names in kinds.items() if names])
        wrong = {
            "pointer": self._not_a_pointer(),
            "count": self.random.choice(refusals.NOT_COUNTS),
            "scalar": self.random.choice(refusals.NOT_NUMBERS),
            "shape": self.random.choice(refusals.NOT_SHAPES),
            "choice": self.random.choice(refusals.NOT_CHOICES),
        }
        arguments[self.random.choice(kinds[kind])] = wrong[kind]
        note(f"{op} with {arguments}")
        method = getattr(self.backend, op)
        if op == "reduce":  # its first argument is named op too
            return op, lambda: method(*arguments.values())
        return op, lambda: method(**arguments)

    def _bad_memory(self) -> tuple[str, Callable[[], Any]]:
        backend, memory = self.backend, self._pick(1)
        room, pointer, wrong = memory.contents.size, memory.pointer, self._not_a_pointer()
        data = self.random.choice(refusals.NOT_DATA)
        count = self.random.choice([c for c in refusals.NOT_COUNTS if c not in (2**32,)])
        return self.random.choice([
            ("alloc", lambda: backend.alloc(count)),
            ("alloc", lambda: backend.alloc(2**52)),
            ("alloc", lambda: backend.alloc(8, keep=1)),
            ("alloc", lambda: backend.alloc(8, label=b"x")),
            ("free", lambda: backend.free(wrong)),
            ("buffer_bytes", lambda: backend.buffer_bytes(wrong)),
            ("copy_htod", lambda: backend.copy_htod(wrong, b"1234")),
            ("copy_htod", lambda: backend.copy_htod(pointer, bytes(room + 1))),
            ("copy_htod", lambda: backend.copy_htod(pointer, data)),
            ("copy_dtoh", lambda: backend.copy_dtoh(bytearray(4), wrong)),
            ("copy_dtoh", lambda: backend.copy_dtoh(bytearray(room + 1), pointer)),
            ("copy_dtoh", lambda: backend.copy_dtoh(b"1234", pointer)),
            ("copy_dtoh", lambda: backend.copy_dtoh(data, pointer)),
            ("draw", lambda: backend.draw(pointer, 1, 1, 2, "gpu-canvas")),
            ("draw", lambda: backend.draw(pointer, 1, room, 1, "gpu-canvas")),
            ("draw", lambda: backend.draw(pointer, 1, 1, 1, "no such canvas")),
        ])  # fmt: skip

"""Random calls of a TensorBackend, and a model of its tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from inside import reference as plain
from inside import tolerances as plain_tolerances
from inside.comparison import assert_same_bits
from inside.fuzz import refusals
from inside.tensors import reference, tolerances
from inside.tensors.lab import DTYPES, assert_close
from inside.tensors.test_adam import Loop
from inside.tensors.test_images import FILTERS, as_floats, assert_picture, expected_of
from inside.tolerances import F16_U, Tolerance

MOST_TENSORS = 16
FLOATS = ("f32", "f16")
SCALARS_OF_ONE = ("sqrt", "sin", "cos", "tan", "log", "exp", "floor", "ceil", "round", "abs")
SCALARS_OF_TWO = ("add", "sub", "mul", "div", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge")

FILL = """
    @group(0) @binding(0) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) { y[id.x] = id.x + 7u; }
"""


@dataclass
class Tensor:
    """A tensor: its known contents, and a check of the expected contents until they are read."""

    handle: int
    dtype: str
    array: np.ndarray
    unchecked: Callable[[np.ndarray], None] | None = None


class Machine:
    """Makes random calls, one after another.

    Results are checked when a later call uses them, so that work queues up on the GPU.
    """

    def __init__(self, backend: Any, tensors: Any) -> None:
        self.backend = backend
        self.tensors = tensors
        self.live: list[Tensor] = []
        self.freed = [2**40]
        self.random = Random(0)

    def call(self, seed: int) -> None:
        """Make one call, selected by the seed."""
        self.random = Random(seed)
        while len(self.live) > MOST_TENSORS:
            self._drop(self.random.choice(self.live))
        if self.random.random() < 0.3:
            refusals.refused(self.backend, *self._bad())
        else:
            self.random.choice(self._GOOD)(self)

    def forget(self) -> None:
        """Free what a failed call left, unchecked."""
        for tensor in self.live:
            self.tensors.free_tensor(tensor.handle)
        self.live.clear()
        self.freed = [2**40]  # so that examples are independent

    def finish(self) -> None:
        """Check and free everything."""
        for tensor in self.live:
            self._check(tensor)
            found = self.tensors.read_numpy(tensor.handle)
            assert_same_bits(found, tensor.array, "what nothing should have changed")
            self.tensors.free_tensor(tensor.handle)
        self.live.clear()

    # -- tensors ---------------------------------------------------------------------------------

    def _whole(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def _shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self._whole(1, 4) for _ in range(rank))

    def _values(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        generator = np.random.default_rng(self.random.getrandbits(32))
        if dtype in FLOATS:
            size = generator.uniform(0.25, 2.0, shape)
            return (size * generator.choice([-1, 1], shape)).astype(DTYPES[dtype])
        if dtype == "bool":
            return generator.integers(0, 2, shape).astype(bool)
        limits = np.iinfo(DTYPES[dtype])
        return generator.integers(limits.min, limits.max, shape, DTYPES[dtype], endpoint=True)

    def _write(self, tensor: Tensor, array: np.ndarray) -> None:
        self.tensors.write_tensor(tensor.handle, array)
        tensor.array, tensor.unchecked = np.array(array, order="C"), None

    def _drop(self, tensor: Tensor) -> None:
        self.live.remove(tensor)
        self.tensors.free_tensor(tensor.handle)
        self.freed.append(tensor.handle)

    def _check(self, tensor: Tensor) -> None:
        if tensor.unchecked is not None:
            check, tensor.unchecked = tensor.unchecked, None
            tensor.array = self.tensors.read_numpy(tensor.handle)
            check(tensor.array)

    def _any(self, shape: tuple[int, ...], *dtypes: str, apart: tuple[Tensor, ...] = ()) -> Tensor:
        """Return a tensor of the shape and one of the dtypes, existing or new."""
        fitting = [
            t for t in self.live
            if t.array.shape == shape and t.dtype in dtypes and all(t is not a for a in apart)
        ]  # fmt: skip
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        dtype = self.random.choice(dtypes)
        handle = self.tensors.alloc_tensor(shape, dtype)
        tensor = Tensor(handle, dtype, np.zeros(shape, DTYPES[dtype]))
        self._write(tensor, self._values(shape, dtype))
        self.live.append(tensor)
        return tensor

    def _inputs(self, *wanted: tuple[tuple[int, ...], tuple[str, ...]]) -> list[Tensor]:
        """Return tensors of the shapes and dtypes, with floats that are neither huge nor tiny."""
        chosen: list[Tensor] = []
        for shape, dtypes in wanted:
            tensor = self._any(shape, *dtypes, apart=tuple(chosen))
            self._check(tensor)
            if tensor.dtype in FLOATS:
                size = np.abs(tensor.array.astype(np.float64))
                if not ((size == 0) | ((size >= 2.0**-6) & (size <= 8))).all():
                    self._write(tensor, self._values(shape, tensor.dtype))
            chosen.append(tensor)
        return chosen

    def _output(self, shape: tuple[int, ...], *dtypes: str, apart: list[Tensor]) -> Tensor:
        """Return a tensor for a result, sometimes one of the inputs."""
        same = [t for t in apart if t.array.shape == shape and t.dtype in dtypes]
        if same and self.random.random() < 0.3:
            return self.random.choice(same)
        return self._any(shape, *dtypes, apart=tuple(apart))

    @staticmethod
    def _expect(tensor: Tensor, expected: Any, tolerance: Tolerance) -> None:
        values = np.asarray(expected, np.float64).reshape(tensor.array.shape)
        tensor.unchecked = lambda actual: assert_close(actual, values, tolerance)

    @staticmethod
    def _expect_bits(tensor: Tensor, expected: np.ndarray, what: str) -> None:
        tensor.unchecked = lambda actual: assert_same_bits(actual, expected, what)

    # -- good calls ------------------------------------------------------------------------------

    def _make(self) -> None:
        self._any(self._shape(self._whole(0, 3)), *DTYPES)

    def _free(self) -> None:
        if self.live:
            self._drop(self.random.choice(self.live))

    def _rewrite(self) -> None:
        tensor = self._any(self._shape(self._whole(0, 2)), *DTYPES)
        array = self._values(tensor.array.shape, tensor.dtype)
        if self.random.random() < 0.5:
            self._write(tensor, array)
        else:
            self.tensors.write_tensor(tensor.handle, array.tobytes())
            tensor.array, tensor.unchecked = array, None

    def _read(self) -> None:
        tensor = self._any(self._shape(self._whole(0, 2)), *DTYPES)
        self._check(tensor)
        assert self.tensors.read_tensor(tensor.handle) == tensor.array.tobytes()
        meta = self.tensors.tensor_meta(tensor.handle)
        assert (meta.shape, meta.dtype) == (tensor.array.shape, tensor.dtype)

    def _sync(self) -> None:
        self.tensors.sync()

    def _scalar(self) -> None:
        a, b = self.random.uniform(0.1, 9.0), self.random.uniform(-9.0, 9.0)
        if self.random.random() < 0.5:
            op = self.random.choice(SCALARS_OF_ONE)
            found, expected = getattr(self.tensors, f"scalar_{op}")(a), getattr(np, op)(a)
        else:
            op = self.random.choice(SCALARS_OF_TWO)
            function = {
                "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
                "pow": np.power, "eq": np.equal, "ne": np.not_equal, "lt": np.less,
                "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "mod": np.mod,
            }[op]  # fmt: skip
            found, expected = getattr(self.tensors, f"scalar_{op}")(a, b), function(a, b)
        assert found == expected

    def _add(self) -> None:
        shape = self._shape(self._whole(0, 3))
        if self.random.random() < 0.4:
            dtype = self.random.choice(["i32", "u32"])
            a, b = self._inputs((shape, (dtype,)), (shape, (dtype,)))
            out = self._output(shape, dtype, apart=[a, b])
            with np.errstate(over="ignore"):
                expected = np.asarray(a.array + b.array)
            self.tensors.pointwise_add(a.handle, b.handle, out.handle)
            self._expect_bits(out, expected, "sum modulo 2^32")
            return
        a, b = self._inputs((shape, FLOATS), (shape, FLOATS))
        out = self._output(shape, *FLOATS, apart=[a, b])
        tolerance = plain_tolerances.binary("add", a.array, b.array)
        expected = a.array.astype(np.float64) + b.array
        self.tensors.pointwise_add(a.handle, b.handle, out.handle)
        self._expect(out, expected, tolerance)

    def _unary(self) -> None:
        op, shape = self.random.choice(["relu", "gelu"]), self._shape(self._whole(0, 3))
        (x,) = self._inputs((shape, FLOATS))
        out = self._output(shape, *FLOATS, apart=[x])
        expected, tolerance = plain.unary(op, x.array), plain_tolerances.unary(op, x.array)
        getattr(self.tensors, op)(x.handle, out.handle)
        self._expect(out, expected, tolerance)

    def _matmul(self) -> None:
        (m, n, k), lead = self._shape(3), self._shape(self._whole(0, 1))
        biased = self.random.random() < 0.5
        wanted = [((*lead, m, k), FLOATS), ((k, n), FLOATS), ((n,), FLOATS)]
        inputs = self._inputs(*wanted[: 3 if biased else 2])
        out = self._output((*lead, m, n), *FLOATS, apart=inputs)
        arrays = [t.array for t in inputs]
        expected = arrays[0].astype(np.float64) @ arrays[1].astype(np.float64)
        tolerance = tolerances.matmul(*arrays)
        if biased:
            expected = expected + arrays[2]
        method = self.tensors.matmul_bias if biased else self.tensors.matmul
        method(*(t.handle for t in inputs), out.handle)
        self._expect(out, expected, tolerance)

    def _softmax(self) -> None:
        shape = self._shape(self._whole(1, 3))
        axis = self._whole(-len(shape), len(shape) - 1)
        (x,) = self._inputs((shape, FLOATS))
        out = self._output(shape, *FLOATS, apart=[x])
        expected, tolerance = reference.softmax(x.array, axis), tolerances.softmax(x.array, axis)
        self.tensors.softmax(x.handle, out.handle, axis)
        self._expect(out, expected, tolerance)

    def _layer_norm(self) -> None:
        shape = self._shape(self._whole(1, 3))
        x, gamma, beta = self._inputs(
            (shape, FLOATS), (shape[-1:], FLOATS), (shape[-1:], FLOATS)
        )  # fmt: skip
        out = self._output(shape, *FLOATS, apart=[x, gamma, beta])
        arrays = (x.array, gamma.array, beta.array)
        expected = reference.layer_norm(*arrays, 0.01)
        tolerance = tolerances.layer_norm(*arrays, 0.01)
        self.tensors.layer_norm(x.handle, gamma.handle, beta.handle, out.handle, 0.01)
        self._expect(out, expected, tolerance)

    def _attention(self) -> None:
        lead, (seq_q, seq_kv, dim) = self._shape(self._whole(0, 1)), self._shape(3)
        wanted = [
            ((*lead, seq_q, dim), FLOATS),
            ((*lead, seq_kv, dim), FLOATS),
            ((*lead, seq_kv, dim), FLOATS),
        ]
        if self.random.random() < 0.5:
            wanted.append(((seq_q, seq_kv), FLOATS))
        inputs = self._inputs(*wanted)
        out = self._output((*lead, seq_q, dim), *FLOATS, apart=inputs)
        q, k, v, *masks = (t.array for t in inputs)
        mask = masks[0] if masks else None
        expected = reference.attention(q, k, v, mask, 0.5)
        tolerance = tolerances.attention(q, k, v, mask, 0.5)
        handles: list[int | None] = [t.handle for t in inputs]
        handles += [None] * (4 - len(handles))
        self.tensors.attention(*handles[:3], out.handle, handles[3], 0.5)
        self._expect(out, expected, tolerance)

    def _cross_entropy(self) -> None:
        lead, classes = self._shape(self._whole(0, 2)), self._whole(1, 5)
        x, goals = self._inputs(((*lead, classes), FLOATS), (lead, ("i32",)))
        self._write(goals, np.asarray(goals.array % (classes + 1), np.int32))  # some are no classes
        loss = self._any(lead, *FLOATS, apart=(x, goals))
        probs = self._any((*lead, classes), *FLOATS, apart=(x, goals, loss))
        expected = reference.cross_entropy(x.array, goals.array)
        tolerance = tolerances.cross_entropy(x.array, expected)
        softmax = reference.softmax(x.array, -1)
        softmax_tolerance = tolerances.softmax(x.array, -1)
        self.tensors.cross_entropy(x.handle, goals.handle, loss.handle, probs.handle)
        self._expect(loss, expected, tolerance)
        self._expect(probs, softmax, softmax_tolerance)

    def _reduce_sum(self) -> None:
        shape = self._shape(self._whole(1, 3))
        dim = self.random.choice([None, *range(-len(shape), len(shape))])
        whole = self.random.random() < 0.4
        (x,) = self._inputs((shape, ("i32", "u32", "bool") if whole else FLOATS))
        summed = np.asarray(x.array.astype(np.int64 if whole else np.float64).sum(dim))
        out = self._any(summed.shape, *(("i32", "u32") if whole else FLOATS), apart=(x,))
        tolerance = None if whole else tolerances.total(x.array, dim)
        self.tensors.reduce_sum(x.handle, out.handle, dim)
        if tolerance is None:
            expected = np.asarray(summed.astype(np.uint32).view(DTYPES[out.dtype]))
            self._expect_bits(out, expected, "sum modulo 2^32")
        else:
            self._expect(out, summed, tolerance)

    def _embedding(self) -> None:
        count, (entries, length) = self._shape(self._whole(0, 2)), self._shape(2)
        which, table = self._inputs((count, ("i32",)), ((entries, length), (*FLOATS, "i32")))
        indices = np.asarray(which.array % (entries + 2) - 1, np.int32)  # some are out of bounds
        self._write(which, indices)
        dtypes = FLOATS if table.dtype in FLOATS else (table.dtype,)
        out = self._any((*count, length), *dtypes, apart=(which, table))
        expected = reference.embedding(indices, table.array)
        self.tensors.embedding(which.handle, table.handle, out.handle)
        if table.dtype in FLOATS:
            self._expect(out, expected, Tolerance(0.0, 0.0, "a copy"))
        else:
            self._expect_bits(out, expected, "rows of a table")

    def _adam(self) -> None:
        shape = self._shape(self._whole(1, 2))
        param, grad, m, v = self._inputs(*[(shape, ("f32",))] * 4)
        self._write(v, np.abs(v.array))
        step = self._whole(1, 50)
        loop = Loop(param.array, m.array, v.array)
        loop.step(grad.array, 0.01, 0.9, 0.99, 1e-6, step)
        handles = [t.handle for t in (param, grad, m, v)]
        self.tensors.adam_update(*handles, 0.01, 0.9, 0.99, 1e-6, step)
        for tensor, expected, error in (
            (param, loop.param, loop.param_error), (m, loop.m, loop.m_error),
            (v, loop.v, loop.v_error),
        ):  # fmt: skip
            self._expect(tensor, expected, Tolerance(0.0, error + 1e-37, "one step of Adam"))

    def _filter(self) -> None:
        op = self.random.choice(list(FILTERS))
        shape = (self._whole(1, 6), self._whole(1, 6), *self._shape(self._whole(0, 1)))
        dtypes = ("f32", "f16", "u8")
        x = self._any(shape, *dtypes)
        self._check(x)
        if x.dtype != "u8":
            picture = self._values(shape, "u8").astype(np.float64) / 255
            self._write(x, picture.astype(DTYPES[x.dtype]))
        out = self._output(shape, *dtypes, apart=[x])
        expected, certain, tolerance = expected_of(op, as_floats(x.array), *FILTERS[op])
        if x.dtype == "f16" or out.dtype == "f16":
            tolerance = tolerance._replace(atol=tolerance.atol + F16_U)
        getattr(self.tensors, op)(x.handle, out.handle, *FILTERS[op])
        out.unchecked = lambda actual: assert_picture(actual, expected, certain, tolerance)

    def _dispatch(self) -> None:
        n = self._whole(1, 5)
        out = self._any((n,), "u32")
        self._check(out)
        count = self._whole(1, n)
        expected = out.array.copy()
        expected[:count] = np.arange(count) + 7
        self.tensors.dispatch_compute(FILL, [out.handle], None, count)
        self._expect_bits(out, expected, "a user's kernel")

    _GOOD = (
        _make, _free, _rewrite, _read, _sync, _scalar, _add, _unary, _matmul, _softmax,
        _layer_norm, _attention, _cross_entropy, _reduce_sum, _embedding, _adam, _filter,
        _dispatch,
    )  # fmt: skip

    # -- bad calls -------------------------------------------------------------------------------

    def _bad(self) -> tuple[str, Callable[[], Any]]:
        tensors, choose = self.tensors, self.random.choice
        wrong: Any = choose([*refusals.NOT_HANDLES, choose(self.freed)])
        number = choose(refusals.NOT_NUMBERS)
        matrix, other = self._any((3, 4), "f32"), self._any((4, 2), "f32")
        whole, row = self._any((3,), "i32"), self._any((4,), "f32")
        a, b, w, r = (t.handle for t in (matrix, other, whole, row))
        handles: dict[str, tuple[Any, ...]] = {
            "free_tensor": (a,), "tensor_meta": (a,), "read_tensor": (a,), "relu": (a, a),
            "gelu": (a, a), "pointwise_add": (a, a, a), "matmul": (a, b, b),
            "matmul_bias": (a, b, r, a), "layer_norm": (a, r, r, a, 0.1), "softmax": (a, a, 0),
            "attention": (a, a, a, a, None, None), "cross_entropy": (a, w, w, a),
            "reduce_sum": (a, r, 0), "embedding": (w, a, a), "grayscale": (a, a),
            "threshold": (a, a, 0.5), "sharpen": (a, a), "invert_colors": (a, a),
            "adam_update": (a, a, a, a, 0.1, 0.9, 0.9, 1e-8, 1), "write_tensor": (a, b"1"),
        }  # fmt: skip
        op = choose(list(handles))
        arguments = list(handles[op])
        # All of these calls take a handle first.
        arguments[0] = wrong
        shape, count = choose(refusals.NOT_SHAPES), choose(refusals.NOT_COUNTS)
        data, choice = choose(refusals.NOT_DATA), choose(refusals.NOT_CHOICES)
        return choose([
            (op, lambda: getattr(tensors, op)(*arguments)),
            (op, lambda: getattr(tensors, op)(*arguments)),
            ("alloc_tensor", lambda: tensors.alloc_tensor(shape, "f32")),
            ("alloc_tensor", lambda: tensors.alloc_tensor((2, 2), choice)),
            ("alloc_tensor", lambda: tensors.alloc_tensor((2**30, 2**30), "u8")),
            ("write_tensor", lambda: tensors.write_tensor(a, data)),
            ("write_tensor", lambda: tensors.write_tensor(a, np.zeros((4, 3), np.float32))),
            ("write_tensor", lambda: tensors.write_tensor(w, np.full(3, 2**40))),
            ("relu", lambda: tensors.relu(a, b)),
            ("relu", lambda: tensors.relu(w, w)),
            ("pointwise_add", lambda: tensors.pointwise_add(a, a, b)),
            ("pointwise_add", lambda: tensors.pointwise_add(w, w, r)),
            ("matmul", lambda: tensors.matmul(b, a, a)),
            ("matmul", lambda: tensors.matmul(a, r, a)),
            ("matmul_bias", lambda: tensors.matmul_bias(a, b, r, a)),
            ("softmax", lambda: tensors.softmax(a, a, choose([2, -3, None, 0.5, "0"]))),
            ("layer_norm", lambda: tensors.layer_norm(a, w, r, a, 0.1)),
            ("layer_norm", lambda: tensors.layer_norm(a, r, r, a, number)),
            ("layer_norm", lambda: tensors.layer_norm(a, r, r, a, -1.0)),
            ("attention", lambda: tensors.attention(a, b, a, a, None, None)),
            ("attention", lambda: tensors.attention(a, a, a, a, b, None)),
            ("attention", lambda: tensors.attention(a, a, a, a, None, -1.0)),
            ("cross_entropy", lambda: tensors.cross_entropy(a, r, r, a)),
            ("reduce_sum", lambda: tensors.reduce_sum(a, r, 1)),
            ("reduce_sum", lambda: tensors.reduce_sum(a, r, choose([7, "0", 1.5]))),
            ("embedding", lambda: tensors.embedding(r, a, a)),
            ("embedding", lambda: tensors.embedding(w, a, b)),
            ("adam_update", lambda: tensors.adam_update(a, a, a, a, 0.1, 0.9, 0.9, 1e-8, 1)),
            ("gaussian_blur", lambda: tensors.gaussian_blur(a, a, number)),
            ("gaussian_blur", lambda: tensors.gaussian_blur(a, a, 0.0)),
            ("contrast", lambda: tensors.contrast(a, a, number)),
            ("brightness", lambda: tensors.brightness(w, w, 1.0)),
            ("dispatch_compute", lambda: tensors.dispatch_compute(FILL, [w, w], None, 1)),
            ("dispatch_compute", lambda: tensors.dispatch_compute(FILL, [wrong], None, 1)),
            ("dispatch_compute", lambda: tensors.dispatch_compute(FILL, [w], b"1234", 1)),
            ("dispatch_compute", lambda: tensors.dispatch_compute(FILL, [w], None, count)),
            ("dispatch_compute", lambda: tensors.dispatch_compute("fn f() {}", [w], None, 1)),
            ("dispatch_compute", lambda: tensors.dispatch_compute(b"\xff", [w], None, 1)),
            ("scalar_add", lambda: tensors.scalar_add(1, choose(["1", None, True, 1j, []]))),
            ("scalar_sqrt", lambda: tensors.scalar_sqrt(choose(["1", None, True, 1j, []]))),
        ])  # fmt: skip

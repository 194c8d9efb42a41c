"""Invalid arguments raise the right exception, and nothing is sent to the GPU.

The message contains the op and the offending value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu

pytestmark = pytest.mark.firefox

BIG = 4096  # elements in each buffer: more than any valid call needs

# The arguments of one valid call of each op; buffers replace `...`.
GOOD: dict[str, dict[str, Any]] = {
    "gemm": {
        "trans_a": "no_trans", "trans_b": "no_trans", "m": 3, "n": 4, "k": 5, "alpha": 1.0,
        "a_ptr": ..., "lda": 5, "b_ptr": ..., "ldb": 4, "beta": 0.5, "c_ptr": ..., "ldc": 4,
        "order": "C",
    },
    "batched_gemm": {
        "trans_a": "no_trans", "trans_b": "no_trans", "m": 3, "n": 4, "k": 5, "alpha": 1.0,
        "a_ptr": ..., "lda": 5, "stride_a": 15, "b_ptr": ..., "ldb": 4, "stride_b": 20,
        "beta": 0.5, "c_ptr": ..., "ldc": 4, "stride_c": 12, "batch_count": 2, "order": "C",
    },
    "gemm_f16": {
        "m": 3, "n": 4, "k": 5, "alpha": 1.0, "a_ptr": ..., "b_ptr": ..., "beta": 0.5,
        "c_ptr": ...,
    },
    "conv2d_forward": {
        "input_ptr": ..., "input_shape": [1, 2, 5, 6], "filter_ptr": ...,
        "filter_shape": [3, 2, 2, 3], "output_ptr": ..., "output_shape": [1, 3, 4, 4],
        "stride": [1, 1], "padding": [0, 0],
    },
    "attention": {
        "q_ptr": ..., "k_ptr": ..., "v_ptr": ..., "o_ptr": ..., "batch": 1, "heads": 2,
        "seq_q": 3, "seq_kv": 4, "head_dim": 5, "scale": 0.5, "causal": False,
    },
    "reduce": {
        "op": "sum", "input_ptr": ..., "output_ptr": ..., "shape": [3, 4], "axis": 1,
    },
    "unary": {"op": "relu", "input_ptr": ..., "output_ptr": ..., "n": 7},
    "binary": {"op": "add", "a_ptr": ..., "b_ptr": ..., "output_ptr": ..., "n": 7},
}  # fmt: skip

COUNTS = {
    "gemm": ["m", "n", "k", "lda", "ldb", "ldc"],
    "batched_gemm": [
        "m", "n", "k", "lda", "ldb", "ldc", "stride_a", "stride_b", "stride_c", "batch_count",
    ],
    "gemm_f16": ["m", "n", "k"],
    "attention": ["batch", "heads", "seq_q", "seq_kv", "head_dim"],
    "unary": ["n"],
    "binary": ["n"],
}  # fmt: skip

SCALARS = {
    "gemm": ["alpha", "beta"],
    "batched_gemm": ["alpha", "beta"],
    "gemm_f16": ["alpha", "beta"],
    "attention": ["scale"],
}

SHAPES = {
    "conv2d_forward": ["input_shape", "filter_shape", "output_shape"],
    "reduce": ["shape"],
}

CHOICES = {
    "gemm": ["trans_a", "trans_b", "order"],
    "batched_gemm": ["trans_a", "trans_b", "order"],
    "reduce": ["op"],
    "unary": ["op"],
    "binary": ["op"],
}

# The output, and the inputs that it must not alias.
OUTPUTS = {
    "gemm": ("c_ptr", ["a_ptr", "b_ptr"]),
    "batched_gemm": ("c_ptr", ["a_ptr", "b_ptr"]),
    "gemm_f16": ("c_ptr", ["a_ptr", "b_ptr"]),
    "conv2d_forward": ("output_ptr", ["input_ptr", "filter_ptr"]),
    "attention": ("o_ptr", ["q_ptr", "k_ptr", "v_ptr"]),
    "reduce": ("output_ptr", ["input_ptr"]),
}


def pointers(op: str) -> list[str]:
    return [name for name, value in GOOD[op].items() if value is ...]


def pairs(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(op, name) for op, names in table.items() for name in names]


ALL_POINTERS = pairs({op: pointers(op) for op in GOOD})


def call(backend: Any, op: str, arguments: dict[str, Any]) -> None:
    """Call an op with positional arguments in the trait's order; `order` is passed by name."""
    arguments = dict(arguments)
    keywords = {"order": arguments.pop("order")} if "order" in arguments else {}
    getattr(backend, op)(*arguments.values(), **keywords)


def sent(backend: Any) -> dict[str, int]:
    """Return the counters of everything that has reached the GPU."""
    counters = backend.device.recorder.counters
    return {
        name: counters[name] for name in ("dispatches", "copies", "uploads", "readbacks", "draws")
    }


def refused(
    backend: Any,
    op: str,
    work: Callable[[], object],
    *mentions: Any,
    error: str = "InvalidArgument",
) -> None:
    """Check that `work` raises an error with the op and all of `mentions`, and sends nothing."""
    from browsergpu import errors

    kind = getattr(errors, error)
    before = sent(backend)
    with pytest.raises(kind) as caught:
        work()
    assert type(caught.value) is kind
    assert isinstance(caught.value, errors.BackendError)
    assert sent(backend) == before, "something reached the GPU"
    message = str(caught.value)
    assert op in message
    assert caught.value.op == op
    for mention in mentions:
        words = f"{mention:,}" if isinstance(mention, int) and "byte" in message else str(mention)
        assert words in message, f"{words!r} is not in {message!r}"
    backend.synchronize()  # raises if the GPU reported an error


def shown(value: Any) -> str:
    """Return the text of a value in a message; a list may appear as a tuple's elements."""
    return repr(value)[1:-1] if isinstance(value, list) else repr(value)


def bad_call(backend: Any, op: str, mentions: tuple[Any, ...], /, **changes: Any) -> None:
    """Check that a valid call with some changes is refused, and that its buffers are untouched.

    The valid call is made first: a cache of checked arguments must not accept values that only
    compare equal to them, such as True for 1.
    """
    with on_gpu(backend) as gpu:
        buffers = {name: gpu.filled(BIG, 1.0) for name in pointers(op)}
        good = GOOD[op] | buffers
        call(backend, op, good)
        contents = {name: gpu.download(buffers[name], BIG) for name in buffers}
        changes = {
            name: buffers[value] if isinstance(value, str) and value in buffers else value
            for name, value in changes.items()
        }
        refused(backend, op, lambda: call(backend, op, good | changes), *mentions)
        for name, before in contents.items():
            assert_same_bits(gpu.download(buffers[name], BIG), before, name)


@pytest.mark.parametrize("op", GOOD)
def test_the_good_calls_are_good(backend: Any, op: str) -> None:
    with on_gpu(backend) as gpu:
        call(backend, op, GOOD[op] | {name: gpu.filled(BIG, 1.0) for name in pointers(op)})
        backend.synchronize()


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1, True, 3.0, 2.5, "3", None, 2**32, np.float32(3), [3]])
@pytest.mark.parametrize(("op", "name"), pairs(COUNTS))
def test_counts(backend: Any, op: str, name: str, value: Any) -> None:
    bad_call(backend, op, (name, repr(value)), **{name: value})


@pytest.mark.parametrize(("op", "name"), pairs(COUNTS))
def test_values_that_only_compare_equal_to_a_valid_count(backend: Any, op: str, name: str) -> None:
    good = GOOD[op][name]
    bad_call(backend, op, (name, repr(float(good))), **{name: float(good)})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, "1", None, 1j, 1e39, True, [1.0]])
@pytest.mark.parametrize(("op", "name"), pairs(SCALARS))
def test_scalars(backend: Any, op: str, name: str, value: Any) -> None:
    bad_call(backend, op, (name, repr(value)), **{name: value})


@pytest.mark.parametrize("value", [0.0, -0.0, -1.0])
def test_attention_scale_is_positive(backend: Any, value: float) -> None:
    bad_call(backend, "attention", ("scale", value), scale=value)


@pytest.mark.parametrize("value", [0, 1, "yes", None])
def test_attention_causal_is_a_bool(backend: Any, value: Any) -> None:
    bad_call(backend, "attention", ("causal", repr(value)), causal=value)


@pytest.mark.parametrize("value", ["", "no", "NO_TRANS", "Relu", "average", None, 0, 1, True, b"C"])
@pytest.mark.parametrize(("op", "name"), pairs(CHOICES))
def test_choices(backend: Any, op: str, name: str, value: Any) -> None:
    bad_call(backend, op, (name, repr(value)), **{name: value})


# ---- shapes -------------------------------------------------------------------------------------


@pytest.mark.fast
@pytest.mark.parametrize("value", [None, 5, "34", [], [[3, 4]], [3, -1], [3, 4.0], [3, None]])
@pytest.mark.parametrize(("op", "name"), pairs(SHAPES))
def test_shapes(backend: Any, op: str, name: str, value: Any) -> None:
    bad_call(backend, op, (name, shown(value)), **{name: value})


@pytest.mark.parametrize("fake", [float, lambda extent: np.float32(extent)])
@pytest.mark.parametrize(("op", "name"), pairs(SHAPES))
def test_a_shape_that_equals_a_good_one_but_is_none(
    backend: Any, op: str, name: str, fake: Any
) -> None:
    bad_call(backend, op, (name,), **{name: [fake(extent) for extent in GOOD[op][name]]})
    bad_call(backend, op, (name,), **{name: tuple(fake(extent) for extent in GOOD[op][name])})


def test_a_bool_is_no_extent(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        x, y = gpu.filled(16, 1.0), gpu.filled(16, 1.0)
        backend.reduce("sum", x, y, [1, 3], 1)
        refused(backend, "reduce", lambda: backend.reduce("sum", x, y, [True, 3], 1), "shape")


@pytest.mark.parametrize("axis", [2, -3, 1.0, True, None, "1", [1], 2**40])
def test_reduce_axis(backend: Any, axis: Any) -> None:
    bad_call(backend, "reduce", ("axis", repr(axis)), axis=axis)


@pytest.mark.parametrize("op", ["max", "min"])
def test_the_extreme_of_nothing(backend: Any, op: str) -> None:
    bad_call(backend, "reduce", ("shape", "3, 0", op), op=op, shape=[3, 0])


@pytest.mark.parametrize(
    "changes",
    [
        {"filter_shape": [3, 1, 2, 3]},  # a different number of channels
        {"filter_shape": [3, 2, 6, 3]},  # higher than the image
        {"filter_shape": [3, 2, 0, 3]},
        {"output_shape": [1, 3, 4, 5]},
        {"output_shape": [1, 3, 3, 4]},
        {"output_shape": [1, 2, 4, 4]},
        {"output_shape": [2, 3, 4, 4]},
        {"stride": [0, 1]},
        {"stride": [1, -1]},
        {"stride": [1]},
        {"stride": [1, 1, 1]},
        {"stride": [1.0, 1]},
        {"stride": None},
        {"padding": [-1, 0]},
        {"padding": [0, 0, 0]},
        {"padding": "00"},
        {"padding": [0, 0.0]},
    ],
    ids=str,
)
def test_conv2d_shapes(backend: Any, changes: dict[str, Any]) -> None:
    (name, value), *_ = changes.items()
    bad_call(backend, "conv2d_forward", (name, shown(value)), **changes)


# ---- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "changes", "mention"),
    [
        ("gemm", {"lda": 4}, "lda"),
        ("gemm", {"ldb": 3}, "ldb"),
        ("gemm", {"ldc": 3}, "ldc"),
        ("gemm", {"lda": 0}, "lda"),
        ("gemm", {"trans_a": "trans", "lda": 2}, "lda"),
        ("gemm", {"trans_b": "trans", "ldb": 4}, "ldb"),
        ("gemm", {"order": "F", "lda": 2, "ldb": 5, "ldc": 3}, "lda"),
        ("gemm", {"order": "F", "lda": 3, "ldb": 4, "ldc": 3}, "ldb"),
        ("gemm", {"order": "F", "lda": 3, "ldb": 5, "ldc": 2}, "ldc"),
        ("batched_gemm", {"stride_c": 11}, "stride_c"),
        ("batched_gemm", {"stride_c": 0}, "stride_c"),
    ],
)
def test_leading_dimensions_and_strides(
    backend: Any, op: str, changes: dict[str, Any], mention: str
) -> None:
    bad_call(backend, op, (mention, changes[mention]), **changes)


# The required number of elements in each buffer of the valid calls.
NEEDED = {
    "gemm": {"a_ptr": 15, "b_ptr": 20, "c_ptr": 12},
    "batched_gemm": {"a_ptr": 30, "b_ptr": 40, "c_ptr": 24},
    "gemm_f16": {"a_ptr": 15, "b_ptr": 20, "c_ptr": 12},
    "conv2d_forward": {"input_ptr": 60, "filter_ptr": 36, "output_ptr": 48},
    "attention": {"q_ptr": 30, "k_ptr": 40, "v_ptr": 40, "o_ptr": 30},
    "reduce": {"input_ptr": 12, "output_ptr": 3},
    "unary": {"input_ptr": 7, "output_ptr": 7},
    "binary": {"a_ptr": 7, "b_ptr": 7, "output_ptr": 7},
}


@pytest.mark.parametrize(("op", "name"), ALL_POINTERS)
def test_a_buffer_one_byte_too_small(backend: Any, op: str, name: str) -> None:
    itemsize = 2 if op == "gemm_f16" else 4
    needed = {each: NEEDED[op][each] * itemsize for each in pointers(op)}
    with on_gpu(backend) as gpu:
        exact = {each: gpu.upload(np.zeros(needed[each], np.uint8)) for each in needed}
        call(backend, op, GOOD[op] | exact)
        small = gpu.alloc(needed[name] - 1)
        refused(
            backend, op, lambda: call(backend, op, GOOD[op] | exact | {name: small}),
            name, needed[name], needed[name] - 1,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("op", "changes"),
    [
        ("gemm", {"m": 2**31, "n": 2**31, "k": 1, "lda": 1, "ldb": 2**31, "ldc": 2**31}),
        ("gemm_f16", {"m": 65_536, "n": 65_536, "k": 65_536}),
        ("attention", {"seq_q": 2**31, "seq_kv": 2**31}),
        ("attention", {"batch": 65_536, "heads": 65_536}),
        ("reduce", {"shape": [65_536, 65_536]}),
        ("unary", {"n": 2**32 - 1}),
        ("binary", {"n": 2**30 + 1}),
    ],
)
def test_sizes_that_overflow_32_bits(backend: Any, op: str, changes: dict[str, Any]) -> None:
    bad_call(backend, op, (), **changes)


@given(data=st.data())
def test_no_count_gets_past_the_end_of_a_buffer(backend: Any, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(["unary", "binary"]))
    elements = data.draw(st.integers(1, 30), "elements")
    excess = data.draw(st.one_of(st.integers(1, 5), st.integers(0, 2**32 - 1)), "n too large by")
    n = min(elements + max(excess, 1), 2**32 - 1)
    name = data.draw(st.sampled_from(pointers(op)), "which buffer")
    with on_gpu(backend) as gpu:
        buffers = {each: gpu.filled(64, 1.0) for each in pointers(op)} | {
            name: gpu.filled(elements, 1.0)
        }
        refused(backend, op, lambda: call(backend, op, GOOD[op] | buffers | {"n": n}), "_ptr")


# ---- pointers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -1, 2**31, 2**64, None, "1", 1.0, True, b"", [1]])
@pytest.mark.parametrize(("op", "name"), ALL_POINTERS)
def test_pointers(backend: Any, op: str, name: str, value: Any) -> None:
    bad_call(backend, op, (name, repr(value)), **{name: value})


@pytest.mark.fast
@pytest.mark.parametrize(("op", "name"), ALL_POINTERS)
def test_freed_pointers(backend: Any, op: str, name: str) -> None:
    pointer = backend.alloc(4 * BIG)
    backend.free(pointer)
    bad_call(backend, op, (name, pointer), **{name: pointer})


@pytest.mark.parametrize("op", GOOD)
def test_foreign_pointers(backend: Any, other_backend: Any, op: str) -> None:
    foreign = other_backend.alloc(4 * BIG)
    for name in pointers(op):
        bad_call(backend, op, (name, foreign), **{name: foreign})
    other_backend.free(foreign)


@pytest.fixture(scope="module")
def other_backend() -> Any:
    from browsergpu import WasmBackend

    backend = WasmBackend()
    backend.init()
    yield backend
    backend.close()


@pytest.mark.parametrize(
    ("op", "output", "name"),
    [(op, output, name) for op, (output, names) in OUTPUTS.items() for name in names],
)
def test_an_output_that_is_an_input(backend: Any, op: str, output: str, name: str) -> None:
    bad_call(backend, op, (output,), **{output: name})


# ---- memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1, True, 1.0, "1", None, [4]])
def test_alloc_sizes(backend: Any, value: Any) -> None:
    refused(backend, "alloc", lambda: backend.alloc(value), repr(value))


def test_alloc_beyond_the_device(backend: Any) -> None:
    for size in (backend.device.largest_buffer + 1, 2**40, 2**53):
        refused(backend, "alloc", lambda size=size: backend.alloc(size), size, error="OutOfMemory")
    from browsergpu.errors import OutOfMemory

    assert issubclass(OutOfMemory, MemoryError)


def test_free_twice(backend: Any) -> None:
    pointer = backend.alloc(16)
    backend.free(pointer)
    refused(backend, "free", lambda: backend.free(pointer), pointer)


@pytest.mark.parametrize("value", [0, -1, 2**40, None, "1", 1.5, True])
def test_memory_calls_with_bad_pointers(backend: Any, value: Any) -> None:
    array = np.zeros(4, np.float32)
    refused(backend, "free", lambda: backend.free(value), repr(value))
    refused(backend, "copy_htod", lambda: backend.copy_htod(value, array), repr(value))
    refused(backend, "copy_dtoh", lambda: backend.copy_dtoh(array, value), repr(value))


def test_memory_calls_with_freed_pointers(backend: Any) -> None:
    array = np.zeros(4, np.float32)
    pointer = backend.alloc(16)
    backend.free(pointer)
    refused(backend, "copy_htod", lambda: backend.copy_htod(pointer, array), pointer)
    refused(backend, "copy_dtoh", lambda: backend.copy_dtoh(array, pointer), pointer)


def test_copies_larger_than_the_buffer(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(10)
        for size in (11, 12, 1000):
            data = bytearray(size)
            refused(backend, "copy_htod", lambda d=data: backend.copy_htod(pointer, d), size, 10)
            refused(backend, "copy_dtoh", lambda d=data: backend.copy_dtoh(d, pointer), size, 10)


@pytest.mark.parametrize("dtype", ["f8", ">f8", "c16"])
def test_float64_is_refused_with_the_cast(backend: Any, dtype: str) -> None:
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(64)
        array = np.ones(2, dtype)
        cast = "astype(np.float32)"
        refused(backend, "copy_htod", lambda: backend.copy_htod(pointer, array), "float64", cast)
        refused(backend, "copy_dtoh", lambda: backend.copy_dtoh(array, pointer), "float64")


@pytest.mark.parametrize(
    "value",
    [None, 5, "text", [1.0, 2.0], object(), np.array(["a"]), np.array([None])],
    ids=["None", "int", "str", "list", "object", "array of str", "array of object"],
)
def test_arrays_without_bytes(backend: Any, value: Any) -> None:
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(64)
        refused(backend, "copy_htod", lambda: backend.copy_htod(pointer, value), "src")
        refused(backend, "copy_dtoh", lambda: backend.copy_dtoh(value, pointer), "dst")


def test_destinations_that_cannot_be_filled(backend: Any) -> None:
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    targets = {
        "bytes": b"0123",
        "read-only array": frozen,
        "Fortran order": np.zeros((2, 3), np.float32, order="F"),
        "strided": np.zeros(8, np.float32)[::2],
        "reversed": np.zeros(8, np.float32)[::-1],
        "read-only memoryview": memoryview(b"0123"),
    }
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(64)
        for target in targets.values():
            refused(backend, "copy_dtoh", lambda t=target: backend.copy_dtoh(t, pointer), "dst")


# ---- life ---------------------------------------------------------------------------------------


def every_call(backend: Any) -> dict[str, Callable[[], object]]:
    array = np.zeros(4, np.float32)
    calls: dict[str, Callable[[], object]] = {
        op: lambda op=op: call(backend, op, GOOD[op] | dict.fromkeys(pointers(op), 1))  # type: ignore[misc]
        for op in GOOD
    }
    calls |= {
        "alloc": lambda: backend.alloc(16),
        "free": lambda: backend.free(1),
        "copy_htod": lambda: backend.copy_htod(1, array),
        "copy_dtoh": lambda: backend.copy_dtoh(array, 1),
        "synchronize": lambda: backend.synchronize(),
        "draw": lambda: backend.draw(1, 1, 1, 1),
        "device": lambda: backend.device,
    }
    return calls


def test_calls_before_init() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import NotInitialized

    backend = WasmBackend()
    assert backend.is_initialized is False
    for op, work in every_call(backend).items():
        with pytest.raises(NotInitialized, match=f"{op}.*init"):
            work()
    backend.close()  # a backend that was never opened can be closed


def test_calls_after_close() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import NotInitialized

    backend = WasmBackend()
    backend.init()
    assert backend.is_initialized is True
    pointer = backend.alloc(16)
    backend.close()
    backend.close()
    assert backend.is_initialized is False
    for op, work in every_call(backend).items():
        with pytest.raises(NotInitialized, match=f"{op}.*(closed|init)"):
            work()
    with pytest.raises(NotInitialized):
        backend.free(pointer)


def test_a_closed_backend_can_be_opened_again() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import InvalidArgument

    backend = WasmBackend()
    backend.init()
    stale = backend.alloc(16)
    backend.close()
    backend.init()
    try:
        with pytest.raises(InvalidArgument):
            backend.free(stale)
        fresh = backend.alloc(16)
        backend.copy_htod(fresh, np.arange(4, dtype=np.float32))
        backend.unary("neg", fresh, fresh, 4)
        result = np.full(4, np.nan, np.float32)
        backend.copy_dtoh(result, fresh)
        assert_same_bits(result, -np.arange(4, dtype=np.float32), "after opening again")
    finally:
        backend.close()


def test_a_context_manager_closes() -> None:
    from browsergpu import WasmBackend

    with WasmBackend() as backend:
        backend.init()
        backend.init()  # opening again changes nothing
        assert backend.is_initialized
        assert backend.alloc(4) > 0
    assert not backend.is_initialized


@pytest.mark.parametrize("value", ["fast", "", None, 1])
def test_power_preference(value: Any) -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="power_preference"):
        WasmBackend(power_preference=value).init()


def test_the_hierarchy_of_errors() -> None:
    from browsergpu import errors
    from browsergpu.engine.core import errors as defined

    classes = {name for name, one in vars(defined).items() if isinstance(one, type)
               and issubclass(one, errors.BackendError)}  # fmt: skip
    assert {*errors.__all__} == classes
    tree = {
        "NotInitialized": (errors.BackendError,),
        "InvalidArgument": (errors.BackendError, ValueError),
        "InvalidType": (errors.InvalidArgument, TypeError),
        "InvalidIndex": (errors.InvalidArgument, IndexError),
        "InvalidMatrix": (errors.BackendError, np.linalg.LinAlgError),
        "Unsupported": (errors.BackendError, NotImplementedError),
        "UnknownName": (errors.Unsupported, AttributeError),
        "NotDifferentiable": (errors.BackendError, RuntimeError),
        "OutOfMemory": (errors.BackendError, MemoryError),
        "DeviceError": (errors.BackendError,),
        "NoAdapter": (errors.DeviceError,),
        "DeviceLost": (errors.DeviceError,),
        "ShaderCompilation": (errors.DeviceError,),
        "ValidationError": (errors.DeviceError,),
        "Timeout": (errors.DeviceError,),
    }
    assert classes - tree.keys() == {"BackendError"}
    for name, bases in tree.items():
        for base in bases:
            assert issubclass(getattr(errors, name), base), f"{name} is no {base.__name__}"

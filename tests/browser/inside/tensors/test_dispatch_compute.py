"""dispatch_compute with WGSL: bindings, refused arguments and reported errors."""

from __future__ import annotations

import os
from struct import pack
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.tensors.lab import on_bench, sent

SCALE = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&y)) {
    y[id.x] = 2.5 * x[id.x];
  }
}
"""
X = np.arange(100, dtype=np.float32)

# Each shader has the same effect as SCALE.
SAME = {
    "as bytes": SCALE.encode(),
    "as a bytearray": bytearray(SCALE.encode()),
    "as a memoryview": memoryview(SCALE.encode()),
    "attributes in another order": SCALE.replace(
        "@group(0) @binding(1)", "@binding( 1u , ) @group ( 0 )"
    ).replace("@compute @workgroup_size(64)", "@workgroup_size(64, 1, 1)\n@compute"),
    "attributes over lines": SCALE.replace("@compute", "@\ncompute\n\n"),
    "hexadecimal": SCALE.replace("@binding(1)", "@binding(0x1)"),
    "trailing commas": SCALE.replace("read_write>", "read_write,>").replace("(64)", "(64,)"),
    "line comments": SCALE.replace("\n", " // @compute fn other() {} var<storage> z: u32;\n"),
    "block comments": SCALE.replace("@compute", "/* fn a() /* @compute fn b() {} */ */ @compute"),
    "a comment in an attribute": SCALE.replace("@binding(1)", "@binding(/* 7 */ 1) // */\n"),
    "declared last first": "\n".join(
        [SCALE.splitlines()[2], SCALE.splitlines()[1], *SCALE.splitlines()[3:]]
    ),
    "gaps in the numbers": SCALE.replace("@binding(1)", "@binding(5)"),
    "a constant workgroup size": SCALE.replace("(64)", "(SIZE)") + "const SIZE = 32u + 32u;",
    "helpers": SCALE.replace("2.5 *", "f() *") + "fn f() -> f32 { return 2.5; }",
    "other variables": SCALE + "var<private> p: f32; var<workgroup> w: array<f32, 4>;",
    "names like keywords": SCALE.replace("main", "fn_compute").replace("x", "variable_x").replace(
        "id.variable_x", "id.x").replace("variable_x:", "variable_x :"),
    "with a byte order of unicode": "// ⟨é⟩ 数\n" + SCALE,
}  # fmt: skip


def run(tensors: Any, shader: Any, groups: Any = 2, constants: Any = None) -> np.ndarray:
    with on_bench(tensors) as bench:
        out = bench.new((100,))
        tensors.dispatch_compute(shader, [bench.up(X), out], constants, groups)
        return bench.get(out)


@pytest.mark.parametrize("shader", SAME.values(), ids=SAME.keys())
def test_ways_to_write_it(tensors: Any, shader: Any) -> None:
    assert_same_bits(run(tensors, shader), 2.5 * X, "scaled")


@pytest.mark.parametrize(
    "groups",
    [2, (2,), [2], (2, 1), (2, 1, 1), [2, 3, 4], np.int64(2), np.array([2, 1]), (np.uint8(2), 1)],
    ids=str,
)
def test_workgroup_counts(tensors: Any, groups: Any) -> None:
    assert_same_bits(run(tensors, SCALE, groups), 2.5 * X, "scaled")


def test_workgroup_counts_reach_the_shader(tensors: Any) -> None:
    shader = """
@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@compute @workgroup_size(1) fn f(@builtin(num_workgroups) n: vec3u) {
  counts[0] = n.x; counts[1] = n.y; counts[2] = n.z;
}"""
    for groups, expected in ((3, [3, 1, 1]), ((2, 5), [2, 5, 1]), ((1, 2, 7), [1, 2, 7])):
        with on_bench(tensors) as bench:
            out = bench.new((3,), "u32")
            tensors.dispatch_compute(shader, [out], None, groups)
            assert bench.get(out).tolist() == expected


def test_the_largest_grid(tensors: Any) -> None:
    shader = """
@group(0) @binding(0) var<storage, read_write> last: array<u32>;
@compute @workgroup_size(1) fn f(@builtin(workgroup_id) id: vec3u) {
  if (id.x == 65534u) { last[0] = id.x; }
}"""
    with on_bench(tensors) as bench:
        out = bench.new((1,), "u32")
        tensors.dispatch_compute(shader, [out], None, 65_535)
        assert bench.get(out).tolist() == [65_534]


def test_every_dtype_has_the_documented_layout(tensors: Any) -> None:
    shader = """
@group(0) @binding(0) var<storage> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn f(@builtin(workgroup_id) id: vec3u) { out[id.x] = words[id.x]; }"""
    arrays = [
        np.array([1.5, -2.0], np.float32), np.array([1.5, -2.0, 3.0, 4.0], np.float16),
        np.array([-1, 7], np.int32), np.array([1, 2**32 - 1], np.uint32),
        np.array([True, False]), np.arange(8, dtype=np.uint8),
    ]  # fmt: skip
    for array in arrays:
        words = array.astype(np.uint32) if array.dtype == bool else array.view(np.uint32)
        with on_bench(tensors) as bench:
            out = bench.new((2,), "u32")
            tensors.dispatch_compute(shader, [bench.up(array), out], None, 2)
            assert_same_bits(bench.get(out), words, str(array.dtype))


def test_operations_before_and_after_keep_their_order(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        x, y = bench.up(-X), bench.new((100,))
        tensors.pointwise_add(x, x, x)
        tensors.dispatch_compute(SCALE, [x, y], None, 2)
        tensors.relu(x, x)
        tensors.pointwise_add(y, x, y)
        assert_same_bits(bench.get(y), -5.0 * X + 0.0, "sum")


def test_a_read_only_buffer_may_be_bound_twice(tensors: Any) -> None:
    shader = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(64) fn f(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < 100u) { c[id.x] = a[id.x] + b[id.x]; }
}"""
    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.new((100,))
        tensors.dispatch_compute(shader, [x, x, y], None, 2)
        assert_same_bits(bench.get(y), X + X, "sum")


# ---- how long the buffers are -------------------------------------------------------------------

LENGTHS_OF = """
@group(0) @binding(0) var<storage, read> x: array<{}>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1) fn f() {{ y[0] = arrayLength(&x); y[1] = arrayLength(&y); }}
"""
TOTAL = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1) fn f() {
  var total = 0.0;
  for (var i = 0u; i < arrayLength(&x); i++) { total += x[i]; }
  y[0] = total;
}
"""


@pytest.mark.parametrize("n", [1, 2, 3, 5, 63, 64, 65, 1000, 4099])
def test_array_length_is_the_tensors(tensors: Any, n: int) -> None:
    with on_bench(tensors) as bench:
        for dtype, element, expected in (
            ("f32", "f32", n), ("i32", "atomic<u32>", n), ("bool", "u32", n),
            ("f32", "vec2f", n // 2), ("f16", "u32", (n + 1) // 2), ("u8", "u32", (n + 3) // 4),
        ):  # fmt: skip
            if expected == 0:
                continue
            access = "read_write" if "atomic" in element else "read"
            source = LENGTHS_OF.format(element).replace("storage, read>", f"storage, {access}>")
            out = bench.new((2,), "u32")
            tensors.dispatch_compute(source, [bench.new((n,), dtype), out], None, 1)
            assert bench.get(out).tolist() == [expected, 2], (dtype, element)


def test_a_sum_over_all_elements_reads_no_other_tensors(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        out = bench.new((1,))
        for n in (
            64,
            5,
            7,
            1,
            0,
            5,
            64,
        ):  # one size class: each reuses the previous buffer
            x = tensors.alloc_tensor((n,), "f32")
            tensors.write_tensor(x, np.full(n, 2.0, np.float32))
            tensors.dispatch_compute(TOTAL, [x, out], None, 1)
            assert bench.get(out).tolist() == [2.0 * n]
            tensors.free_tensor(x)


def test_a_kernel_over_all_elements_writes_no_others(tensors: Any) -> None:
    shader = """
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn f(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&y)) { y[id.x] = 7; }
}"""
    with on_bench(tensors) as bench:
        first = tensors.alloc_tensor((64,), "u32")
        tensors.write_tensor(first, np.arange(64, dtype=np.uint32))
        tensors.free_tensor(first)
        small = tensors.alloc_tensor((5,), "u32")
        tensors.dispatch_compute(shader, [small], None, 1)
        assert bench.get(small).tolist() == [7] * 5
        tensors.free_tensor(small)
        again = tensors.alloc_tensor((64,), "u32")
        assert bench.get(again).tolist() == [7] * 5 + list(range(5, 64))
        tensors.free_tensor(again)


def test_one_kernel_on_buffers_of_many_lengths_in_one_batch(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        lengths = [64, 3, 64, 17, 3, 1, 200]
        outs = [bench.new((1,)) for _ in lengths]
        for n, out in zip(lengths, outs, strict=True):
            tensors.dispatch_compute(TOTAL, [bench.up(np.ones(n, np.float32)), out], None, 1)
        assert [bench.get(out)[0] for out in outs] == lengths


@pytest.mark.provokes_errors
def test_a_buffer_smaller_than_the_shaders_element_harms_no_other_operation(tensors: Any) -> None:
    from browsergpu.errors import ValidationError

    shader = """
@group(0) @binding(0) var<storage, read_write> y: array<vec4f>;
@compute @workgroup_size(1) fn vectors() { y[0] = vec4f(5); }"""
    with on_bench(tensors) as bench:
        good, small, x, y = bench.new((4,)), bench.new((3,)), bench.up(X), bench.new((100,))
        tensors.dispatch_compute(shader, [good], None, 1)
        assert bench.get(good).tolist() == [5.0] * 4
        tensors.relu(x, y)
        tensors.dispatch_compute(shader, [small], None, 1)
        with pytest.raises(ValidationError, match="vectors"):
            tensors.sync()
        assert_same_bits(bench.get(y), X, "recorded before")


def test_bindings_as_an_array(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.new((100,))
        for bindings in ((x, y), np.array([x, y])):
            tensors.dispatch_compute(SCALE, bindings, None, 2)
        assert_same_bits(bench.get(y), 2.5 * X, "scaled")


def test_the_same_source_is_compiled_once(backend: Any, tensors: Any) -> None:
    run(tensors, SCALE)
    before = sent(backend)["pipelines_created"]
    run(tensors, SCALE)
    run(tensors, SCALE.encode())
    assert sent(backend)["pipelines_created"] == before


def test_the_async_twin(tensors: Any) -> None:
    from pyodide.ffi import run_sync

    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.new((100,))
        run_sync(tensors.dispatch_compute_async(SCALE, [x, y], None, 2))
        assert_same_bits(bench.get(y), 2.5 * X, "scaled")


# ---- push constants -----------------------------------------------------------------------------

CONSTANTS = """
struct Constants { count: u32, factor: f32 }
var<immediate> constants: Constants;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < constants.count) { y[id.x] = constants.factor * x[id.x]; }
}
"""


@pytest.fixture
def immediates(backend: Any) -> None:
    """Skip the test if the browser has no WGSL immediates."""
    if backend.device.immediate_bytes == 0:
        pytest.skip("this browser has no WGSL immediates")


@pytest.mark.usefixtures("immediates")
@pytest.mark.parametrize(
    "source",
    [CONSTANTS, "requires immediate_address_space;\n" + CONSTANTS,
     "// immediate_address_space\n" + CONSTANTS],
    ids=["undeclared", "declared", "in a comment"],
)  # fmt: skip
def test_push_constants(tensors: Any, source: str) -> None:
    packed = pack("<If", 100, -1.5)
    forms = [packed, bytearray(packed), memoryview(packed), np.frombuffer(packed, np.uint32)]
    for constants in forms:
        assert_same_bits(run(tensors, source, 2, constants), -1.5 * X, "scaled")


@pytest.mark.usefixtures("immediates")
def test_each_dispatch_keeps_its_own_push_constants(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        x = bench.up(X)
        outs = [bench.new((100,)) for _ in range(20)]
        for factor, out in enumerate(outs):
            tensors.dispatch_compute(CONSTANTS, [x, out], pack("<If", 100, factor), 2)
        for factor, out in enumerate(outs):
            assert_same_bits(bench.get(out), factor * X, "scaled")


@pytest.mark.usefixtures("immediates")
def test_the_most_push_constants(backend: Any, tensors: Any) -> None:
    words = backend.device.immediate_bytes // 4
    fields = ", ".join(f"v{i}: u32" for i in range(words))
    copies = " ".join(f"y[{i}] = constants.v{i};" for i in range(words))
    shader = f"""
struct Constants {{ {fields} }}
var<immediate> constants: Constants;
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1) fn f() {{ {copies} }}"""
    values = np.arange(words, dtype=np.uint32) + 2**31
    with on_bench(tensors) as bench:
        out = bench.new((words,), "u32")
        tensors.dispatch_compute(shader, [out], values, 1)
        assert_same_bits(bench.get(out), values, "constants")


@pytest.mark.usefixtures("immediates")
@pytest.mark.provokes_errors
def test_too_few_push_constants_are_reported(tensors: Any) -> None:
    from browsergpu.errors import DeviceError

    if os.environ.get("BROWSERGPU_ENGINE") == "wgpu":
        pytest.skip("wgpu-native takes immediates that nobody has set")
    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.new((100,))
        tensors.dispatch_compute(CONSTANTS, [x, y], bytes(4), 2)
        with pytest.raises(DeviceError, match="main"):
            tensors.sync()
        tensors.sync()


def test_without_immediates_push_constants_are_unsupported() -> None:
    from browsergpu import TensorBackend, WasmBackend
    from browsergpu.errors import Unsupported

    with WasmBackend(immediates=False) as backend:
        backend.init()
        own = TensorBackend(backend)
        with on_bench(own) as bench:
            x, y = bench.up(X), bench.new((100,))
            with pytest.raises(Unsupported, match="use a uniform buffer"):
                own.dispatch_compute(CONSTANTS, [x, y], pack("<If", 100, 1.0), 2)
            own.dispatch_compute(SCALE, [x, y], None, 2)
            assert_same_bits(bench.get(y), 2.5 * X, "scaled")


# ---- refusals -----------------------------------------------------------------------------------

ENTRY = "@compute @workgroup_size(1) fn f() {}"
REFUSED = {
    "no source": ("", "@compute function"),
    "no entry point": (SCALE.replace("@compute", "/* @compute */"), "@compute function"),
    "a vertex shader": ("@vertex fn f() -> @builtin(position) vec4f { return vec4f(); }", "@comp"),
    "two entry points": (SCALE + ENTRY, "one of main, f"),
    "another group": (SCALE.replace("@group(0)", "@group(1)"), r"@group\(1\)"),
    "a texture": (SCALE + "@group(0) @binding(2) var t: texture_2d<f32>;", "textures"),
    "a sampler": (SCALE + "@group(0) @binding(2) var s: sampler;", "only storage and uniform"),
    "a binding that is no number": (SCALE.replace("(1)", "(1 + 0)"), "plain numbers"),
    "a binding of two": (SCALE.replace("(1)", "(0)"), "got x and y"),
    "a uniform buffer": (SCALE + "@group(0) @binding(2) var<uniform> u: vec4f;", "uniform"),
    "more buffers": (SCALE + "@group(0) @binding(2) var<storage> z: array<f32>;", "x, y, z"),
    "fewer buffers": ("@group(0) @binding(0) var<storage> z: array<f32>;" + ENTRY, "has: z"),
    "no buffers": (ENTRY, "has: none"),
    "no text": (None, "WGSL source"),
    "a number": (5, "WGSL source"),
    "a list": ([SCALE], "WGSL source"),
    "half a character": (SCALE + "// \ud800", "WGSL source"),
    "a binding beyond 64 bits": (
        SCALE.replace("(1)", f"({10**20})"),
        rf"@binding\({10**20}\) of y",
    ),
    "a binding beyond 32 bits": (SCALE.replace("(1)", f"({2**32})"), rf"@binding\({2**32}\) of y"),
    "a binding beyond all digits": (SCALE.replace("(1)", f"({'9' * 5000})"), "plain numbers"),
    "a binding with leading zeros": (SCALE.replace("(1)", "(01)"), "plain numbers"),
    "other bytes": (b"\xff\xfe\x00\x01", "WGSL source"),
    "big-endian SPIR-V": (b"\x07\x23\x02\x03" + bytes(16), "@compute function"),
}


@pytest.mark.parametrize(("shader", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_shaders(backend: Any, tensors: Any, shader: Any, message: str) -> None:
    refused(backend, tensors, message, shader=shader)


def refused(backend: Any, tensors: Any, message: str, **changed: Any) -> None:
    """Check that a valid call with ``changed`` raises InvalidArgument and sends nothing."""
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        handles = [bench.up(X), bench.new((100,))]
        good = {"shader": SCALE, "bindings": handles, "push_constants": None, "workgroup_count": 1}
        arguments = {**good, **changed}
        if callable(arguments["bindings"]):
            arguments["bindings"] = arguments["bindings"](handles)
        before = (sent(backend), backend.device.memory.buffers)
        with pytest.raises(InvalidArgument, match=rf"(?s)dispatch_compute: .*{message}"):
            tensors.dispatch_compute(*arguments.values())
        assert (sent(backend), backend.device.memory.buffers) == before


@pytest.mark.parametrize(
    "groups",
    [0, -1, 65_536, 2**40, 1.0, True, None, "2", b"2", (), (1, 1, 1, 1), (1, 0), (1, 65_536),
     (1.5,), (True,), [[1]], {1: 2}, np.array(1.5)],
    ids=repr,
)  # fmt: skip
def test_refused_workgroup_counts(backend: Any, tensors: Any, groups: Any) -> None:
    refused(backend, tensors, "workgroup_count", workgroup_count=groups)


@pytest.mark.parametrize("bindings", [None, 5, "ab", b"ab", {1, 2}, {1: 2}], ids=repr)
def test_bindings_that_are_no_sequence(backend: Any, tensors: Any, bindings: Any) -> None:
    refused(backend, tensors, "a sequence of tensor handles", bindings=bindings)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_bindings(backend: Any, tensors: Any, count: int) -> None:
    bindings = lambda handles: [handles[0]] * count  # noqa: E731
    message = rf"have 2 buffers, as the shader has: x, y, got {count} buffers" if count else "x, y"
    refused(backend, tensors, message, bindings=bindings)


def test_a_written_tensor_bound_twice(backend: Any, tensors: Any) -> None:
    refused(backend, tensors, "one buffer as x and y", bindings=lambda handles: [handles[1]] * 2)


@pytest.mark.parametrize("constants", [b"1234", 5, "abcd", [1], np.ones(2)], ids=repr)
def test_push_constants_that_nothing_declares(backend: Any, tensors: Any, constants: Any) -> None:
    refused(backend, tensors, "push_constants", push_constants=constants)


@pytest.mark.usefixtures("immediates")
@pytest.mark.parametrize(
    "constants", [None, b"", b"123", bytes(5), bytes(4096), 7, "abcd"], ids=str
)
def test_refused_push_constants(backend: Any, tensors: Any, constants: Any) -> None:
    refused(backend, tensors, "push_constants", shader=CONSTANTS, push_constants=constants)


def test_more_buffers_than_the_device_binds(backend: Any, tensors: Any) -> None:
    most = backend.device.limits["maxStorageBuffersPerShaderStage"]
    declared = "".join(
        f"@group(0) @binding({i}) var<storage> b{i}: array<f32>;" for i in range(most + 1)
    )
    bindings = lambda handles: [handles[0]] * (most + 1)  # noqa: E731
    # A GPU may bind more buffers than there are binding numbers.
    expected = f"at most {most}" if most < backend.device.limits["maxBindingsPerBindGroup"] else (
        "binding numbers less than"
    )  # fmt: skip
    refused(backend, tensors, expected, shader=declared + ENTRY, bindings=bindings)


# ---- what the compiler refuses ------------------------------------------------------------------

BROKEN = SCALE.replace("2.5 *", "unknown_name *")  # in line 8


@pytest.mark.provokes_errors
def test_a_shader_that_does_not_compile(tensors: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.up(np.zeros(100, np.float32))
        for _ in range(2):  # compiled once, then from the cache
            other = bench.up(-X)
            tensors.pointwise_add(other, other, other)
            tensors.dispatch_compute(BROKEN, [x, y], None, 2)
            tensors.pointwise_add(other, other, other)
            with pytest.raises(ShaderCompilation, match="unknown_name") as caught:
                tensors.sync()
            assert (caught.value.line, caught.value.column) == (8, 15)
            assert caught.value.op == "main"
            tensors.sync()  # raised once
            # Other work was done, and the broken shader wrote nothing.
            assert_same_bits(bench.get(other), -4.0 * X, "other work")
            assert not bench.get(y).any()


@pytest.mark.provokes_errors
def test_a_shader_that_is_repaired(tensors: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    broken = SCALE.replace("2.5 *", "also_unknown *")
    with pytest.raises(ShaderCompilation, match="also_unknown"):
        run(tensors, broken)
    assert_same_bits(run(tensors, broken.replace("also_unknown", "2.5")), 2.5 * X, "scaled")

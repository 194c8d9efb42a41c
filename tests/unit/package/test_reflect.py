"""Parsing of WGSL source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.kernels import table as kernels
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.kernels.text.reflect import EntryPoint, Resource, reflect, without_comments

pytestmark = pytest.mark.fast

BUFFERS = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage> plain: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(3) var<uniform> u: vec4f;
"""


def test_buffers_and_their_access() -> None:
    assert reflect(BUFFERS).resources == (
        Resource("x", 0, 0, "r"),
        Resource("plain", 0, 1, "r"),
        Resource("y", 0, 2, "w"),
        Resource("u", 1, 3, "u"),
    )


@pytest.mark.parametrize(
    "declaration",
    [
        "@group(0) @binding(7) var<storage, read_write> v: array<u32>;",
        "@binding(7) @group(0) var<storage,read_write>v:array<u32>;",
        "@ group ( 0 )\n@ binding ( 7 ) var < storage , read_write > v : array<u32>;",
        "@group(0u) @binding(7i) var<storage, read_write,> v: array<u32>;",
        "@group(0x0,) @binding(0x7u) var<storage, read_write> v: array<u32>;",
        "@group(0)@binding(7)var<storage,read_write>v:array<u32>;",
        "@group(/* 1 */ 0) // @binding(9)\n@binding(7) var<storage, read_write> v: array<u32>;",
    ],
)
def test_ways_to_declare_a_buffer(declaration: str) -> None:
    assert reflect(declaration).resources == (Resource("v", 0, 7, "w"),)


def test_numbers_that_are_expressions_are_unknown() -> None:
    source = "const N = 1; @group(0) @binding(N) var<storage> a: u32;"
    assert reflect(source).resources == (Resource("a", 0, None, "r"),)
    assert reflect("@group(0) @binding(1 + 1) var<storage> a: u32;").resources[0].binding is None


@pytest.mark.parametrize("number", ["010", "08u", "9" * 5000, "0x" + "f" * 5000, "1_000", "٣"])
def test_numbers_that_wgsl_does_not_have_are_unknown(number: str) -> None:
    source = f"@group({number}) @binding({number}) var<storage> a: u32;"
    assert reflect(source).resources == (Resource("a", None, None, "r"),)
    (entry,) = reflect(f"@compute @workgroup_size({number}) fn f() {{}}").entry_points
    assert entry.workgroup_size == (None, 1, 1)


def test_values_that_are_not_buffers() -> None:
    source = """
@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
var<private> p: f32; var<workgroup> w: array<f32, 4>;
fn f() { var local = 1; var<function> other: f32; }
"""
    assert reflect(source).resources == (Resource("t", 0, 0, "?"), Resource("s", 0, 1, "?"))
    assert not reflect(source).uses_immediates


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("var<immediate> c: C;", True),
        ("var < immediate > c: C;", True),
        ("// var<immediate> c: C;", False),
        ("fn f() { var immediate = 1; }", False),
    ],
)
def test_immediates(source: str, used: bool) -> None:
    assert reflect(source).uses_immediates is used


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("@compute @workgroup_size(64)", (64, 1, 1)),
        ("@workgroup_size(8, 4) @compute", (8, 4, 1)),
        ("@compute\n@workgroup_size( 8 , 4u , 2i , )", (8, 4, 2)),
        ("@ compute @ workgroup_size (0x10)", (16, 1, 1)),
        ("@compute @workgroup_size(SIZE)", (None, 1, 1)),
        ("@compute @workgroup_size(4, max(2, N))", (4, None, None)),
        ("@diagnostic(off, derivative_uniformity) @compute @workgroup_size(2)", (2, 1, 1)),
        ("@compute @workgroup_size(2) @diagnostic(off, a.b)", (2, 1, 1)),
        ("@must_use @compute @workgroup_size(3)", (3, 1, 1)),
    ],
)
def test_entry_points(attributes: str, size: tuple[int | None, ...]) -> None:
    (entry,) = reflect(f"{attributes} fn main(@builtin(x) id: vec3u) {{}}").entry_points
    assert entry.name == "main"
    assert entry.workgroup_size[0] == size[0]
    if None not in size[1:]:
        assert entry.workgroup_size == size


def test_other_functions_are_none() -> None:
    source = """
fn helper() {}
@vertex fn v() -> @builtin(position) vec4f { return vec4f(); }
@fragment fn f() {}
// @compute @workgroup_size(1) fn no() {}
/* @compute @workgroup_size(1) fn no() {} */
@compute @workgroup_size(1) fn a() {}
@workgroup_size(2) @compute fn b() {}
"""
    assert [entry.name for entry in reflect(source).entry_points] == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a // b\nc", "a  \nc"),
        ("a // b\rc", "a  \rc"),
        ("a // b\u2028c", "a  \u2028c"),
        ("a /* b */ c", "a   c"),
        ("a /* b /* c */ d */ e", "a   e"),
        ("a /* // */ b", "a   b"),
        ("a /*/ b */ c", "a   c"),
        ("a // /* b\nc */ d", "a  \nc */ d"),
        ("a /* b", "a "),
        ("a /**/ b", "a   b"),
        ("a /***/ b", "a   b"),
        ("a / b * c", "a / b * c"),
        ("", ""),
    ],
)
def test_comments(source: str, expected: str) -> None:
    assert without_comments(source) == expected


@given(st.lists(st.sampled_from(["//", "/*", "*/", "\n", "x", "/", "*"]), max_size=40))
def test_comments_of_any_kind_end(parts: list[str]) -> None:
    source = "".join(parts)
    assert len(without_comments(source)) <= 2 * len(source) + 1
    # Text after a closed comment and a line break is kept.
    assert without_comments(f"{source} {'*/' * source.count('/*')}\nend").endswith("end")


@pytest.mark.parametrize("kernel", kernels.KERNELS.values(), ids=kernels.KERNELS.keys())
def test_the_projects_own_shaders(kernel: kernels.Kernel) -> None:
    found = reflect(shaders.load(kernel.shader))
    assert kernel.entry_point in {entry.name for entry in found.entry_points}
    declared = {resource.name: resource for resource in found.resources if resource.group == 0}
    for binding in kernel.bindings:
        assert declared[binding.name].access == binding.access
        assert declared[binding.name].binding == binding.number


def test_an_entry_point_is_a_value() -> None:
    assert reflect("@compute @workgroup_size(1) fn f() {}").entry_points == (
        EntryPoint("f", (1, 1, 1)),
    )

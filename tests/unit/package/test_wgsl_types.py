"""The positions of floats in the buffers of a shader."""

from __future__ import annotations

import numpy as np
import pytest

from browsergpu.engine.kernels.text.wgsl_types import F16, F32, NO_FLOATS, Floats, floats_of

pytestmark = pytest.mark.fast


def of(declared: str, before: str = "") -> Floats:
    return floats_of(
        f"{before}\n@group(0) @binding(0) var<storage, read_write> y: {declared};", "y"
    )


@pytest.mark.parametrize(
    ("declared", "head", "repeated"),
    [
        ("array<f32>", "", "Ff"),
        ("array< f32 , 4 >", "", "Ff"),
        ("array<f16>", "", "h"),
        ("array<vec2f>", "", "FfFf"),
        ("array<vec3f>", "", "FfFfFf.."),
        ("array<vec4<f32>>", "", "FfFfFfFf"),
        ("array<vec3h>", "", "hhh."),
        ("array<vec2<f16>>", "", "hh"),
        ("array<mat2x3f>", "", "FfFfFf..FfFfFf.."),
        ("array<mat3x2<f32>>", "", "FfFf" * 3),
        ("array<mat2x3h>", "", "hhh.hhh."),
        ("array<array<f32, 3>>", "", "FfFfFf"),
        ("array<array<vec3f, 2>, 2>", "", "FfFfFf.." * 2),
        ("f32", "Ff", ""),
        ("vec3f", "FfFfFf", ""),
        ("mat2x2f", "FfFfFfFf", ""),
        ("array<Pair>", "", "Ff.."),
        ("array<Mixed>", "", "Ff......FfFfFfhh"),
        ("Endless", "..Ff....", "FfFfFf.."),
        ("Spread", "Ff..Ff..", ""),
        ("Real", "Ff", ""),
        ("array<Reals>", "", "FfFf"),
        ("array<f32, COUNT>", "", "Ff"),
        ("Counted", "..FfFfFf", ""),
    ],
)
def test_layouts(declared: str, head: str, repeated: str) -> None:
    types = """
struct Pair { real: f32, /* : f32, */ count: u32 }
struct Mixed { a: f32, @align(16) b: vec3f, c: vec2<f16>, // then some room
}
struct Endless { n: u32, x: f32, rest: array<vec3f>, }
struct Spread { @size(8) a: f32, @align(8) @size(8) b: f32 }
struct Counted { n: atomic<u32>, x: array<f32, COUNT> }
alias Real = f32;
alias Reals = vec2<Real>;
const COUNT = 3u;
"""
    assert of(declared, types) == Floats(head, repeated)


@pytest.mark.parametrize(
    "declared",
    [
        "array<u32>", "array<vec4u>", "array<atomic<i32>>", "array<vec2<i32>>", "Whole",
        "array<Unknown>", "Strange", "array<f32x>",
    ],
)  # fmt: skip
def test_types_without_floats_or_unknown_types(declared: str) -> None:
    types = "struct Whole { a: u32 } struct Strange { a: f32, b: array<f32, max(1, 2)>, c: u32 }"
    assert of(declared, types) == NO_FLOATS
    assert floats_of("// var<storage, read_write> y: array<f32>;", "y") == NO_FLOATS


@pytest.mark.parametrize(("floats", "dtype"), [(F32, np.float32), (F16, np.float16)])
def test_nan_within_the_bytes(floats: Floats, dtype: type) -> None:
    values = np.array([1, np.nan, 2, np.nan, np.inf, np.nan], dtype)
    contents = values.view(np.uint8)
    for n in range(values.size + 1):
        nbytes = n * values.itemsize
        assert floats.are_nan(contents, nbytes).tolist() == np.isnan(values[:n]).tolist()
        vectors = Floats(repeated=4 * floats.repeated)
        assert vectors.are_nan(contents, nbytes).tolist() == np.isnan(values[:n]).tolist()


def test_nan_among_other_things() -> None:
    contents = np.full(12, np.nan, np.float32)
    contents[2] = 1.0
    nan = of("array<vec3f>").are_nan(contents.view(np.uint8), contents.nbytes)
    assert nan.tolist() == [True, True, False] + [True] * 6, "not of what is between the elements"
    nan = of("Tail", "struct Tail { n: vec2u, x: array<f32> }").are_nan(contents.view(np.uint8), 20)
    assert nan.tolist() == [False, True, True]
    nan = of("array<P>", "struct P { a: f32, b: u32 }").are_nan(contents.view(np.uint8), 20)
    assert nan.tolist() == [True, False, True]
    assert NO_FLOATS.are_nan(contents.view(np.uint8), 48).tolist() == []

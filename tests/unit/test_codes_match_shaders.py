"""The codes of functions and types are equal in Python and in WGSL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from browsergpu import Activation
from browsergpu.engine.kernels.base.family import Codes
from browsergpu.engine.kernels.convolution import pool
from browsergpu.engine.kernels.elements import cast, philox
from browsergpu.engine.kernels.matmul import products
from browsergpu.engine.kernels.networks import attention_facts, images
from browsergpu.engine.kernels.ordering import scan, sort
from browsergpu.engine.kernels.quantized.formats import FORMATS
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders

pytestmark = pytest.mark.fast

ACTIVATIONS = {name or "none": code for name, code in products.ACTIVATIONS.items()}
MASKS = {name or "none": code for name, code in attention_facts.MASK_CODES.items()}

#: File and constant (or field of the parameters) → the codes that it can have.
CODES: Mapping[tuple[str, str], Codes] = {
    ("philox.wgsl", "OP"): philox.UNIFORM_CODES,
    ("normal.wgsl", "OP"): philox.NORMAL_CODES,
    ("scan.wgsl", "OP"): scan.CODES,
    **{
        (f"{name}.wgsl", "KIND"): sort.CODES
        for name in ("sort", "sort_small", "arg_reduce", "search")
    },
    ("pool.wgsl", "OP"): pool.CODES,
    ("pool_halves.wgsl", "OP"): pool.CODES,
    ("pixel.wgsl", "OP"): images.POINT_CODES,
    ("stencil.wgsl", "OP"): images.STENCIL_CODES,
    ("cast.wgsl", "FROM"): cast.CODES,
    ("cast.wgsl", "TO"): cast.CODES,
    ("attention.wgsl", "MASK"): MASKS,
    ("gemm_sum.wgsl", "function"): ACTIVATIONS,
    ("gemm_tiny.wgsl", "function"): ACTIVATIONS,
    ("gemm_thin.wgsl", "function"): ACTIVATIONS,
    ("quantized_thin.wgsl", "function"): ACTIVATIONS,
    ("quantized_thin_floats.wgsl", "function"): ACTIVATIONS,
    **{
        (f"conv2d{kernel}.wgsl", "function"): ACTIVATIONS
        for kernel in (
            *("", "_window", "_window_large", "_stream"),
            *("_depthwise", "_depthwise_halves", "_depthwise_totals", "_sum"),
        )
    },
    **{
        (f"quantized_{kernel}.wgsl", "FORMAT"): {name: one.code for name, one in FORMATS.items()}
        for kernel in ("halves", "rows", "thin", "thin_floats", "tile")
    },
    **{
        (kernel.shader, "FUNCTION"): ACTIVATIONS
        for kernel in KERNELS.values()
        if "override FUNCTION" in shaders.load(kernel.shader)
    },
}
CONSTANTS = {name for _, name in CODES if "." not in name}

_SWITCH = re.compile(r"\bswitch \(([^\n]+)\) \{\n(.*?)^  \}\n", re.DOTALL | re.MULTILINE)
_LABELS = re.compile(r"^    (?:case )?([\w, ]+): \{", re.MULTILINE)
_TOLD = re.compile(r"\b(\d+) (\w+)")


def switches(file: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the selector of each switch in a file, and the labels of each case."""
    for selector, body in _SWITCH.findall(shaders.load(file)):
        yield selector, [labels.split(", ") for labels in _LABELS.findall(body)]


SWITCHES = [
    (file, selector, cases)
    for file in sorted({kernel.shader for kernel in KERNELS.values()})
    for selector, cases in switches(file)
    if selector != "RANK"  # a number: the default case takes any larger one
]


def told(file: str, name: str) -> dict[str, int] | None:
    """Return the names and codes in the comment before or after a constant or field."""
    found = re.search(
        r"((?:^ *//[^\n]*\n)*)^ *(?:override +\w+[^\n]*\n *)*(?:override |let )?"
        rf"{name}: u32([^\n]*)",
        shaders.load(file),
        re.MULTILINE,
    )
    assert found is not None
    pairs = _TOLD.findall(found[1] + found[2].partition("//")[2])
    return {word: int(number) for number, word in pairs} or None


@pytest.mark.parametrize(
    ("file", "selector"), sorted({(file, selector) for file, selector, _ in SWITCHES})
)
def test_every_code_has_a_case_and_every_case_a_code(file: str, selector: str) -> None:
    codes = CODES[file, selector].values()
    of_all = [cases for f, s, cases in SWITCHES if (f, s) == (file, selector)]
    labels = [label for cases in of_all for labels in cases for label in labels]
    assert {label for label in labels if label != "default"} == {f"{code}u" for code in codes}
    # A default of its own would hide a missing case.
    assert any(["default"] not in cases for cases in of_all)


@pytest.mark.parametrize(("file", "name"), CODES)
def test_the_shaders_comment_tells_the_codes(file: str, name: str) -> None:
    assert told(file, name.removeprefix("params.")) == CODES[file, name]


@pytest.mark.parametrize("name", KERNELS)
def test_configurations_have_only_known_codes(name: str) -> None:
    kernel = KERNELS[name]
    for constants in kernel.configurations.values():
        for constant in CONSTANTS & constants.keys():
            assert constants[constant] in CODES[kernel.shader, constant].values()


def test_numbers_are_used_once() -> None:
    for key, codes in CODES.items():
        assert len(set(codes.values())) == len(codes), key


def test_activations_are_the_public_ones() -> None:
    assert set(products.ACTIVATIONS) == {None, *Activation}

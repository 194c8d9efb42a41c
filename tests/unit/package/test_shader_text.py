"""The loader's changes to the text of shader files."""

from __future__ import annotations

import re

import pytest

from browsergpu.engine.kernels.base.family import Kernel
from browsergpu.engine.kernels.table import CUSTOM_SHADERS, KERNELS, RENDER_SHADERS
from browsergpu.engine.kernels.text import shaders

pytestmark = pytest.mark.fast

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_OVERRIDE = re.compile(r"\boverride\s+(\w+)")

FILES = sorted(
    {kernel.shader for kernel in KERNELS.values()} | RENDER_SHADERS | CUSTOM_SHADERS.keys()
)
CONFIGURED = [
    pytest.param(kernel, constants, id=f"{kernel.name} {name}".strip())
    for kernel in KERNELS.values()
    for name, constants in kernel.configurations.items()
]


def code_of(text: str) -> str:
    """Return WGSL without its comments."""
    return _COMMENT.sub(" ", text)


def array_types(code: str) -> list[str]:
    """Return the arguments of each ``array<...>``."""
    found = []
    for start in re.finditer(r"\barray\s*<", code):
        depth, at = 1, start.end()
        while depth:
            depth += {"<": 1, ">": -1}.get(code[at], 0)
            at += 1
        found.append(code[start.end() : at - 1])
    return found


def test_array_types_are_found_whole() -> None:
    code = "var<workgroup> t: array<array<vec4<f32>, A>, 2u * B>; var x = array<f32, 2>(1, 2);"
    whole = ["array<vec4<f32>, A>, 2u * B", "vec4<f32>, A", "f32, 2"]
    assert array_types(code) == whole


@pytest.mark.parametrize("immediates", [True, False], ids=["immediates", "uniform"])
@pytest.mark.parametrize(("kernel", "constants"), CONFIGURED)
def test_no_array_is_sized_by_an_override(
    kernel: Kernel, constants: dict[str, int], immediates: bool
) -> None:
    text, left = shaders.to_compile(kernel.shader, constants, immediates=immediates)
    code = code_of(text)
    overrides = set(_OVERRIDE.findall(code))
    for inner in array_types(code):
        assert not overrides & set(re.findall(r"\w+", inner)), f"array<{inner}>"
    assert left == {name: constants[name] for name in constants if name in overrides}


@pytest.mark.parametrize(("kernel", "constants"), CONFIGURED)
def test_lines_keep_their_numbers(kernel: Kernel, constants: dict[str, int]) -> None:
    text, _left = shaders.to_compile(kernel.shader, constants, immediates=True)
    before, after = shaders.load(kernel.shader).split("\n"), text.split("\n")
    assert len(before) == len(after)
    left_out, repeats = False, 0
    for old, new in zip(before, after, strict=True):
        begins = old.strip().startswith("//#repeat ")
        if repeats or begins:  # all code is on the first line
            assert new == "" if repeats else re.search(r"\b0u\b|_0\b", new)
            repeats += begins - (old.strip() == "//#end")
            continue
        match old.strip().split():
            case ["//#if", name]:
                left_out = constants.get(name) == 0
            case ["//#else"]:
                left_out = not left_out
            case ["//#endif"]:
                left_out = False
            case _ if not left_out:
                assert old == new or old.startswith(("override ", shaders.PARAMETERS)), old
                continue
        assert new == ""


def test_repeat_repeats_lines() -> None:
    text, _left = shaders.to_compile("gemm_quads.wgsl", {}, immediates=False)
    (line,) = (line for line in text.split("\n") if line.count("s000 = fma(") > 1)
    assert line.count("s000 = fma(") == 16
    assert [f"a_tile[{i}u * A_PITCH + y]" in line for i in range(17)] == [True] * 16 + [False]
    assert "STEP" not in line


def test_constants_are_written_into_the_text() -> None:
    chosen = KERNELS["gemm"].configurations["128_relu"]
    text, left = shaders.to_compile("gemm.wgsl", chosen, immediates=False)
    assert "\nconst SIDE: u32 = u32(128);" in text
    assert "\nconst PITCH = QUARTER + 1u;" in text, "it follows from SIDE"
    assert left == {name: chosen[name] for name in chosen if name not in ("SIDE", "DEPTH")}


def test_overrides_without_a_constant_keep_their_default() -> None:
    text, left = shaders.to_compile("gemm.wgsl", {"DEPTH": 8, "FUNCTION": 1}, immediates=False)
    assert "\nconst SIDE: u32 = 64u;" in text
    assert "\nconst DEPTH: u32 = u32(8);" in text
    assert left == {"FUNCTION": 1}


@pytest.mark.parametrize("file", FILES)
def test_declarations_are_written_as_the_loader_reads_them(file: str) -> None:
    text = shaders.load(file)
    code = code_of(text)
    assert _OVERRIDE.findall(code) == re.findall(r"^override (\w+)(?:: \w+)? = ", text, re.M)
    variables = re.findall(r"var\s*<\s*workgroup\s*>\s*(\w+)", code)
    assert variables == re.findall(r"^var<workgroup> (\w+): ", text, re.M)


LIBRARY = sorted(
    path.relative_to(shaders.directory()).as_posix()
    for path in shaders.directory().glob("lib/**/*.wgsl")
)
# Kernels with generated text include these files.
GENERATED = (
    "lib/c_text.wgsl", "lib/chance/", "lib/complex/", "lib/fused/", "lib/math/", "lib/special/",
    "lib/wide/",
)  # fmt: skip
SHARED = [file for file in LIBRARY if not file.startswith(GENERATED)]


def own_text(file: str) -> str:
    return (shaders.directory() / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", FILES)
def test_each_line_is_found_in_the_file_that_it_comes_from(file: str) -> None:
    lines = shaders.load(file).split("\n")
    sections = shaders.sections(file)
    assert sections[0] == (file, 1)
    names = [name for name, _begin in sections]
    assert len(set(names)) == len(names)
    ends = [begin for _name, begin in sections[1:]] + [len(lines)]
    for (name, begin), end in zip(sections, ends, strict=True):
        assert "\n".join(lines[begin - 1 : end - 1]) + "\n" == own_text(name)


def test_includes_of_a_library_file_are_included() -> None:
    names = [name for name, _begin in shaders.sections("softmax.wgsl")]
    assert names == [
        "softmax.wgsl", "lib/running_softmax.wgsl", "lib/floats.wgsl", "lib/rows.wgsl",
    ]  # fmt: skip


@pytest.mark.parametrize("file", [*FILES, *LIBRARY])
def test_include_lines_are_written_as_the_loader_reads_them(file: str) -> None:
    text = own_text(file)
    assert text.endswith("\n"), "another file may follow"
    found = re.findall(r"^.*#\s*include.*$", text, re.MULTILINE)
    assert set(found) <= {f"//#include {name}" for name in LIBRARY}
    assert found == sorted(set(found))


@pytest.mark.parametrize("file", SHARED)
def test_library_files_are_shared(file: str) -> None:
    users = [other for other in [*FILES, *LIBRARY] if f"//#include {file}\n" in own_text(other)]
    assert len(users) > 1, f"it belongs into {users}"


@pytest.mark.parametrize("file", LIBRARY)
def test_library_files_can_follow_others(file: str) -> None:
    code = code_of(own_text(file))
    assert not re.search(r"^\s*(enable|requires|diagnostic)\b", code, re.MULTILINE)
    assert "@compute" not in code


def test_files_are_joined_with_their_includes_once() -> None:
    text = shaders.load("lib/math/roots.wgsl", "lib/math/quotients.wgsl")
    assert text.startswith(own_text("lib/math/roots.wgsl") + own_text("lib/math/quotients.wgsl"))
    for function in ("np_sqrt", "np_divide", "times_power", "near_quotient", "kept"):
        assert text.count(f"fn {function}(") == 1


def test_no_function_is_defined_twice() -> None:
    found: dict[str, str] = {}
    for file in [*FILES, *LIBRARY]:
        for function in re.findall(r"^fn .*?^}", code_of(own_text(file)), re.M | re.DOTALL):
            if function.startswith("fn main(") and function.count(";") == 1:
                continue  # it calls a function of a library file, which can have no entry point
            assert function not in found, f"{file} and {found[function]} have it:\n{function}"
            found[function] = file


def test_no_type_of_generated_kernels_is_defined_twice() -> None:
    found: dict[str, str] = {}
    for file in (file for file in LIBRARY if file.startswith(GENERATED)):
        for name in re.findall(r"^(?:struct|alias) (\w+)", code_of(own_text(file)), re.M):
            other = found.setdefault(name, file)
            assert other == file, f"{file} and {other} declare {name}"


def test_lines_of_a_constant_that_is_0_are_left_empty() -> None:
    kernel = KERNELS["gemm_f16_matrix128"]
    plain, biased = (
        shaders.to_compile(kernel.shader, kernel.configurations[name], immediates=True)[0]
        for name in ("", "bias")
    )
    assert "params.biased" in biased
    assert "params.biased" not in plain
    assert plain.count("\n") == biased.count("\n")
    for found in shaders.directory().rglob("*.wgsl"):
        text = found.read_text(encoding="utf-8")
        assert text.count("//#if ") == text.count("//#endif"), found.name

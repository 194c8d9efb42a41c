"""Every public function of arrays declares its gradients, and each rule is tested."""

from __future__ import annotations

from io import BytesIO
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from inside.gradients import test_elementwise as elementwise
from inside.gradients import test_special as special
from inside.gradients.cases import CASES, Case
from inside.gradients.checking import gradients_agree, second_gradients_agree
from inside.gradients.modules import defined

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: Rules tested in other files, or of functions that are not public.
ELSEWHERE = {
    **dict.fromkeys((*elementwise.ONE, *elementwise.TWO), "test_elementwise"),
    **dict.fromkeys(("imag", "sign", "where", "clip", "elementwise.complex"), "test_elementwise"),
    **dict.fromkeys(("ceil", "floor", "round", "trunc"), "test_special"),
    **dict.fromkeys((f"special.{name}" for name in (*special.ONE, "polygamma")), "test_special"),
    **dict.fromkeys(("special.entr", "special.xlogy", "special.xlog1py"), "test_special"),
    **dict.fromkeys(("ufuncs._fmod", "sets.unique_with_equal_nan"), "arrays/test_numpys_meaning"),
    "parts.part": "test_parts", "parts.assigned": "test_parts", "parts.added_at": "test_parts",
    "contraction.contraction": "einsum, here", "transforms.identity": "what grad() begins with",
    "weighted_sums.weighted_sums": "test_networks_images",
    "quantized.linear": "llm/test_quantized", "combinations.extreme_at": "torch/test_scatter",
    "equations.inverse": "det and slogdet twice, here",
    "regions.region": "test_views", "regions.put": "test_views", "regions.without": "test_views",
}  # fmt: skip

_MADE_OF = "made of functions that have rules: "
_NUMBERS = "takes numbers"
_READS = "reads values"
_NO_ELEMENTS = "looks at shapes and dtypes, or at when things are computed"
#: Public functions without an entry among the rules, with the reason.
WITHOUT = {
    "__array_namespace_info__": _NO_ELEMENTS, "broadcast_shapes": _NO_ELEMENTS,
    "can_cast": _NO_ELEMENTS, "finfo": _NO_ELEMENTS, "iinfo": _NO_ELEMENTS,
    "isdtype": _NO_ELEMENTS, "result_type": _NO_ELEMENTS, "eval": _NO_ELEMENTS,
    "explain": _NO_ELEMENTS, "kernel": "makes a function of its own, whose gradient is unknown",
    "arange": _NUMBERS, "empty": _NUMBERS, "eye": _NUMBERS, "full": _NUMBERS, "ones": _NUMBERS,
    "linspace": _NUMBERS, "zeros": _NUMBERS, "fft.fftfreq": _NUMBERS, "fft.rfftfreq": _NUMBERS,
    "load": "reads a file", "from_dlpack": _READS, "save": _READS, "save_async": _READS,
    "savez": _READS, "savez_async": _READS, "savez_compressed": _READS,
    "savez_compressed_async": _READS,
    "einsum": _MADE_OF + "contraction", "tensordot": _MADE_OF + "matmul",
    "linalg.tensordot": _MADE_OF + "matmul", "linalg.outer": _MADE_OF + "multiply",
    "unique_counts": _MADE_OF + "unique_all", "unique_inverse": _MADE_OF + "unique_all",
    "unique_values": _MADE_OF + "unique_all", "linalg.trace": _MADE_OF + "diagonal and sum",
    "linalg.matrix_norm": _MADE_OF + "vector_norm, svdvals, sum and max",
    "linalg.matrix_power": _MADE_OF + "matmul and inv",
    **{f"fft.{name}": _MADE_OF + "fft and rfft" for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fft.hfft": _MADE_OF + "irfft", "fft.ihfft": _MADE_OF + "rfft",
    "fft.fftshift": _MADE_OF + "roll", "fft.ifftshift": _MADE_OF + "roll",
}  # fmt: skip


def _functions(module: Any, namespace: str) -> dict[str, str]:
    """Return a namespace's public functions of arrays by full name, with the key of their rule."""
    own = defined(namespace)
    before = f"{namespace}." if namespace else ""
    return {
        before + name: f"{own[name].__module__}.{own[name].__qualname__}"
        for name in sorted(own.keys() & {*dir(module)})
        if isinstance(own[name], FunctionType)
        and own[name].__module__.startswith("browsergpu.functions")
    }


def public_functions(bg: Any) -> dict[str, str]:
    return _functions(bg, "") | _functions(bg.linalg, "linalg") | _functions(bg.fft, "fft")


def _rules() -> dict[str, tuple[str, ...]]:
    import browsergpu.image
    import browsergpu.nn
    import browsergpu.special  # noqa: F401 - what is loaded has its rules
    from browsergpu.arrays.autograd.rules import RULES

    return RULES


def test_every_function_declares_its_gradients(bg: Any) -> None:
    rules, public = _rules(), public_functions(bg)
    unsaid = {name for name, key in public.items() if key not in rules}
    assert sorted(unsaid - WITHOUT.keys()) == [], "no rules, and no reason why"
    assert sorted(WITHOUT.keys() - unsaid) == [], "rules beside a reason why there are none"


def test_each_rule_is_tested(bg: Any) -> None:
    rules, public = _rules(), public_functions(bg)
    with_rules = {name for name, key in public.items() if rules.get(key)}
    hidden = {
        ".".join(key.split(".")[-2:]) for key, of in rules.items()
        if of and key not in public.values() and not _is_of_networks(key)
    }  # fmt: skip
    tested = CASES.keys() | ELSEWHERE.keys()
    assert sorted((with_rules | hidden) - tested) == [], "rules without a test"
    assert sorted(CASES.keys() & ELSEWHERE.keys()) == []
    made_of = {name for name, reason in WITHOUT.items() if reason.startswith(_MADE_OF)}
    untested = made_of - CASES.keys() - {"unique_counts", "unique_inverse", "unique_values"}
    assert sorted(untested) == []


def _is_of_networks(key: str) -> bool:
    return ".functions.nn." in key or ".functions.images." in key


@pytest.mark.parametrize("name", CASES)
def test_gradients(bg: Any, name: str) -> None:
    for one in CASES[name]:
        ours, theirs = _turned(one)
        gradients_agree(bg, lambda *x, f=ours: f(bg, *x), theirs, one.arrays)
        if one.twice:
            second_gradients_agree(bg, lambda *x, f=ours: f(bg, *x), theirs, one.arrays)


def _turned(one: Case) -> tuple[Any, Any]:
    """Rotate complex results: only the real part counts, so the imaginary part would be lost."""
    if all(x.dtype.kind != "c" for x in one.arrays):
        return one.ours, one.theirs

    def turned(function: Any) -> Any:
        def call(*arrays: Any) -> Any:
            found = function(*arrays)
            if isinstance(found, tuple | list):
                return [part * (1 - 2j) for part in found]
            return found * (1 - 2j)

        return call

    return turned(one.ours), turned(one.theirs)


def test_of_shapes_twice(bg: Any) -> None:
    def ours(x: Any) -> Any:
        y = bg.take(bg.repeat(x, [2, 0, 1], axis=1), [0, 2, 2], axis=1)
        return bg.stack([bg.flip(y).T * y.T, bg.reshape(bg.tile(y, (1, 2)), (2, 3, 2))[0] ** 3])

    def theirs(x: np.ndarray) -> Any:
        y = np.take(np.repeat(x, [2, 0, 1], axis=1), [0, 2, 2], axis=1)
        return np.stack([np.flip(y).T * y.T, np.reshape(np.tile(y, (1, 2)), (2, 3, 2))[0] ** 3])

    x = np.random.default_rng(0).uniform(-2, 2, (2, 3)).astype(np.float32)
    gradients_agree(bg, ours, theirs, [x])
    second_gradients_agree(bg, ours, theirs, [x])


def test_of_lists_of_numbers(bg: Any) -> None:
    x = bg.asarray(np.float32(2))
    assert (
        bg.grad(lambda v: (bg.asarray([v, v * v]) * bg.asarray([1.0, 3.0])).sum())(x).item() == 13
    )
    assert bg.grad(lambda v: bg.asarray([[v, v * v]]).sum())(x).item() == 5


def test_reading_functions_accept_arrays_that_require_gradients(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2])).requires_grad_()
    file = BytesIO()
    bg.savez(file, x * 2, x=x)
    file.seek(0)
    with np.load(file) as saved:
        assert saved["arr_0"].tolist() == [2, 4]
        assert saved["x"].tolist() == [1, 2]
    assert bg.from_dlpack(x).requires_grad


def test_of_equal_elements(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2, 1, 3]))
    for function in (bg.unique_values, lambda v: bg.unique_counts(v).values,
                     lambda v: bg.unique_inverse(v).values):  # fmt: skip
        assert bg.grad(lambda v, f=function: f(v).sum())(x).tolist() == [0.5, 1, 0.5, 1]
    assert bg.grad(lambda v: bg.max(v[:3]) - bg.min(v))(x).tolist() == [-0.5, 1, -0.5, 0]


def test_of_products_of_no_elements(bg: Any) -> None:
    for axis, keepdims in ((1, False), (1, True), (None, False)):
        found = bg.grad(lambda v, a=axis, k=keepdims: bg.prod(v, axis=a, keepdims=k).sum())
        assert found(bg.zeros((2, 0))).shape == (2, 0)


def test_of_stacks_times_matrices_without_elements(bg: Any) -> None:
    for left, right in (((2, 3, 2), (2, 0)), ((2, 3, 0), (0, 2)), ((2, 0, 2), (2, 3))):
        found = bg.grad(lambda x, y: (x @ y).sum(), (0, 1))(bg.ones(left), bg.ones(right))
        assert [part.tolist() for part in found] == [
            np.zeros(left).tolist(), np.zeros(right).tolist()
        ]  # fmt: skip


def test_of_variances_without_freedom(bg: Any) -> None:
    """The variance is NaN, or infinite for different elements, and so are its gradients."""
    for function in (bg.var, bg.std):
        one = bg.grad(lambda v, f=function: f(v, correction=1))(bg.asarray([2.0]))
        assert np.isnan(one.numpy()).all()
    two = bg.grad(lambda v: bg.var(v, correction=2))(bg.asarray([1.0, 3.0]))
    assert two.tolist() == [-np.inf, np.inf]


def test_norms_of_zeros_have_finite_gradients(bg: Any) -> None:
    x = bg.zeros((2, 3))
    for order in (1, 2, 3, np.inf):
        found = bg.grad(lambda v, n=order: bg.linalg.vector_norm(v, ord=n))(x)
        assert found.numpy().tolist() == np.zeros((2, 3)).tolist()


def test_functions_without_gradients_accept_arrays_that_require_them(bg: Any) -> None:
    x = bg.asarray(np.float32([[3, 1], [2, 5]]))
    x.requires_grad = True
    y = x * 2
    for name in ("argmax", "argmin", "argsort", "nonzero", "isnan", "signbit", "any"):
        found = getattr(bg, name)(y)
        parts = found if isinstance(found, tuple) else [found]
        assert not any(part.requires_grad for part in parts), name
    assert bg.searchsorted(bg.asarray([1.0, 4.0]), y).tolist() == [[2, 1], [1, 2]]
    assert bg.isin(y, 4).tolist() == [[False, False], [True, False]]
    assert bg.linalg.matrix_rank(y).item() == 2
    assert "kernel" in bg.explain(x * 3) or "memory" in bg.explain(x * 3)
    bg.eval(x * 3)


def test_gradients_of_half_precision(bg: Any) -> None:
    x = np.array([[2, 0.5], [0.25, 3]], np.float16)
    for ours, theirs in (
        (bg.linalg.inv, np.linalg.inv), (bg.linalg.det, np.linalg.det),
        (lambda v: bg.linalg.vector_norm(v, axis=0), lambda v: np.linalg.norm(v, axis=0)),
        (bg.linalg.matrix_norm, np.linalg.norm), (lambda v: v[[0, 0, 1]], lambda v: v[[0, 0, 1]]),
        (lambda v: bg.sort(v, axis=0), lambda v: np.sort(v, axis=0)),
        (lambda v: bg.cumulative_prod(v, axis=0), lambda v: np.cumprod(v, axis=0)),
    ):  # fmt: skip
        gradients_agree(bg, ours, theirs, [x], tolerance=5e-3)


def test_the_added_columns_of_a_complete_qr_have_none(bg: Any) -> None:
    from browsergpu.errors import NotDifferentiable

    x = bg.asarray(np.float32([[1, 2], [3, 4], [5, 7]]))
    with pytest.raises(NotDifferentiable, match="complete"):
        bg.grad(lambda v: bg.linalg.qr(v, mode="complete").R.sum())(x)

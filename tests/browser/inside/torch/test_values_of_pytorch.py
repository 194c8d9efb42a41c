"""Values, dtypes, shapes and errors of PyTorch 2.13 for arguments at the edge."""

from __future__ import annotations

import pickle
from collections import namedtuple
from math import inf, isnan, nan, pi
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

#: Expressions of tensors, with PyTorch's values and dtype.
RESULTS: list[tuple[str, Any, str]] = [
    # reductions
    ("torch.tensor(1.5).sum(0)", 1.5, "float32"),
    ("torch.tensor(1.5).argmax(-1)", 0, "int64"),
    ("torch.tensor(1.5).median(0)[1]", 0, "int64"),
    ("torch.tensor(2.5).mode(0)[0]", 2.5, "float32"),
    ("torch.tensor(2.5).kthvalue(1)[0]", 2.5, "float32"),
    ("torch.tensor(2.5).cummax(0)[0]", 2.5, "float32"),
    ("torch.nansum(torch.tensor([1, 250], dtype=torch.uint8))", 251, "int64"),
    ("torch.nansum(torch.tensor([1.5, nan, 2.0]), dtype=torch.int32)", 3, "int32"),
    ("torch.all(torch.tensor([[1.0, 0.0]]), ())", [[True, False]], "bool"),
    ("torch.any(torch.tensor([3, 0], dtype=torch.uint8), [])", [1, 0], "uint8"),
    ("torch.std_mean(torch.tensor([[1.0], [3.0]]), axis=0, keepdim=True)[1]", [[2.0]], "float32"),
    # elements
    ("torch.sign(torch.tensor([nan, -2.0, 0.0]))", [0.0, -1.0, 0.0], "float32"),
    ("torch.square(torch.tensor([True, False]))", [1, 0], "int64"),
    ("torch.lgamma(torch.tensor([-inf, inf]))", [inf, inf], "float32"),
    ("torch.angle(torch.tensor([-2.0, -0.0, inf, -inf]))", [pi, 0.0, 0.0, pi], "float32"),
    ("torch.xlogy(torch.tensor([2.0, 0.0]).half(), 1)", [0.0, 0.0], "float16"),
    ("torch.heaviside(torch.tensor([-1, 0, 1]), torch.tensor([5]))", [0, 5, 1], "int64"),
    ("torch.float_power(torch.tensor([3.0]).half(), 2)", [9.0], "float32"),
    ("torch.where(torch.tensor([True, False]), True, False)", [True, False], "bool"),
    ("torch.where(torch.tensor([True, False]), 1, 0.5)", [1.0, 0.5], "float32"),
    # indices
    ("torch.arange(12).view(3, 4)[[[0, 2], [1, 3]]]", [1, 11], "int64"),
    ("torch.arange(4)[[torch.tensor([1, 3])]]", [1, 3], "int64"),
    ("torch.arange(3)[torch.tensor([1, 0, 1], dtype=torch.uint8)]", [0, 2], "int64"),
    ("torch.arange(4).view(2, 2).index_select(1, torch.tensor(1))", [[1], [3]], "int64"),
    ("torch.tensor(2.0).index_fill(0, torch.tensor([0]), 5)", 5.0, "float32"),
    # creation
    ("torch.logspace(0, 2, 3, dtype=torch.int64)", [1, 10, 100], "int64"),
    ("torch.scalar_tensor(3)", 3.0, "float32"),
    ("torch.Tensor()", [], "float32"),
    # layers
    ("F.hardshrink(torch.tensor([nan, 0.5, 0.6]))", [nan, 0.0, 0.6], "float32"),
    ("F.threshold(torch.tensor([nan, 1.0, 5.0]), 2, 9)", [nan, 9.0, 5.0], "float32"),
    ("F.alpha_dropout(torch.ones(3), 0.5)", [1.0, 1.0, 1.0], "float32"),
    ("F.feature_alpha_dropout(torch.ones(1, 2, 1), 0.5)", [[[1.0], [1.0]]], "float32"),
    ("nn.Softmax()(torch.zeros(2, 1, 1))", [[[0.5]], [[0.5]]], "float32"),
    ("nn.LogSoftmax()(torch.zeros(1, 1))", [[0.0]], "float32"),
]

#: Expressions that PyTorch refuses too, with a part of the error.
ERRORS = [
    ("torch.tensor(1.5).sum(1)", "sum: dim"),
    ("torch.tensor(1.5).cumsum(2)", "dim must be from -1 to 0"),
    ("torch.ones(2, 3).max(keepdim=True)", "keepdim"),
    ("torch.std(torch.tensor([1, 2]))", r"float\(\)"),
    ("torch.where(torch.tensor([1.0, 0.0]), 1, 0)", "condition"),
    ("torch.add(torch.tensor([1]), torch.tensor([1]), alpha=1.5)", "alpha"),
    ("torch.heaviside(torch.ones(2), torch.tensor([1]))", "values"),
    ("torch.addcdiv(*[torch.tensor([1])] * 3)", "addcdiv"),
    ("torch.bmm(torch.ones(2, 2, 3), torch.ones(1, 3, 2))", "2 matrices"),
    ("torch.mv(torch.ones(2, 3), torch.ones(3, 1))", "a vector"),
    ("torch.trace(torch.ones(2, 3, 3))", "2 axes"),
    ("torch.tensor(1.0).transpose(0, 1)", "dim"),
    ("torch.tensor(1.0).flatten(1)", "dim"),
    ("torch.ones(2, 3).roll(1, (0, 1))", "one for each shift"),
    ("torch.ones(2, 4).unflatten(1, (3, -1))", "product 4"),
    ("torch.ones(2, 3, 4).H", "mH"),
    ("torch.ones(3).renorm(2, 0, 1.0)", "2 axes"),
    ("torch.ones(2).index_select(0, torch.tensor([[0]]))", "1 axis"),
    ("torch.ones(2).masked_fill(torch.tensor([1, 0]), 0)", "mask"),
    ("torch.ones(2).masked_fill(torch.ones(2) > 0, torch.ones(1))", "no axes"),
    ("torch.ones(3, 4).index_copy(0, torch.tensor([0, 1]), torch.ones(1, 4))", "2 indices"),
    ("torch.ones(3, 4).index_add(0, torch.tensor([0]), torch.ones(4))", "1 indices"),
    ("torch.arange(3).index_add(0, torch.tensor([0]), torch.ones(1))", "int64, as input"),
    ("torch.arange(3).scatter(0, torch.tensor([0]), torch.ones(1))", "int64, as input"),
    ("torch.ones(3).scatter(4, torch.tensor([0]), 1.0)", "dim"),
    ("torch.ones(1, 3).gather(1, torch.zeros(2, 3, dtype=torch.int64))", "at most as long"),
    ("torch.Tensor(1.5)", "torch.tensor"),
    ("torch.nanmean(torch.tensor([1, 2]))", r"float\(\)"),
    ("torch.ones(2).chunk(-1)", "chunks"),
    ("torch.optim.lr_scheduler.LinearLR(SGD, 0.0)", "start_factor"),
    ("torch.optim.lr_scheduler.LinearLR(SGD, 1.0, 2.0)", "end_factor"),
    ("torch.meshgrid(torch.arange(2), torch.arange(2.0))", "one dtype"),
]


@pytest.fixture
def names() -> dict[str, Any]:
    from browsergpu import torch

    sgd = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    return {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "nan": nan, "inf": inf,
            "SGD": sgd}  # fmt: skip


@pytest.mark.parametrize(("expression", "expected", "dtype"), RESULTS)
def test_results(names: dict[str, Any], expression: str, expected: Any, dtype: str) -> None:
    found = eval(expression, names)
    assert str(found.dtype) == dtype
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)


@pytest.mark.parametrize(("expression", "match"), ERRORS)
def test_errors(names: dict[str, Any], expression: str, match: str) -> None:
    with pytest.raises((ValueError, TypeError, IndexError), match=match):
        eval(expression, names)


def test_lists_of_indices_are_assigned_as_tuples(names: dict[str, Any]) -> None:
    x = names["torch"].zeros(2, 2)
    x[[[0, 1], [1, 0]]] = 5
    assert x.tolist() == [[0.0, 5.0], [5.0, 0.0]]


def test_empty_axes_have_strides_and_chunks(names: dict[str, Any]) -> None:
    torch = names["torch"]
    assert torch.zeros(2, 0, 3).stride() == (3, 3, 1)
    assert [tuple(x.shape) for x in torch.zeros(2, 0).chunk(3, 1)] == [(2, 0)] * 3


def test_sizes_stay_sizes(names: dict[str, Any]) -> None:
    size = names["torch"].Size([2])
    own = (3,)
    for found, expected in ((own + size, (3, 2)), (size * 2, (2, 2)), (2 * size, (2, 2))):
        assert (type(found), tuple(found)) == (type(size), expected)


def test_limits_of_dtypes(names: dict[str, Any]) -> None:
    torch = names["torch"]
    limits = torch.finfo(torch.float32)
    assert (limits.tiny, limits.dtype) == (1.1754943508222875e-38, "float32")
    assert torch.iinfo(torch.int8).dtype == "int8"
    assert torch.result_type(1, 2.5) == torch.float32


def test_gradients_at_the_edge_of_pieces(names: dict[str, Any]) -> None:
    x = names["torch"].tensor([-3.0, 3.0, 4.0], requires_grad=True)
    names["F"].hardswish(x).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 1.0]
    x = names["torch"].tensor([nan, 0.1, 1.0], requires_grad=True)
    (names["F"].hardshrink(x) + names["F"].threshold(x, 0.5, 0.0)).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 2.0]


def test_clipping_changes_the_gradient_itself(names: dict[str, Any]) -> None:
    torch = names["torch"]
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    (w * w).sum().backward()
    gradient = w.grad
    assert torch.nn.utils.clip_grad_norm_([w], 5.0).item() == 10
    np.testing.assert_allclose(gradient.numpy(), [3.0, 4.0], rtol=1e-5)
    torch.nn.utils.clip_grad_value_([w], 3.5)
    np.testing.assert_allclose(gradient.numpy(), [3.0, 3.5], rtol=1e-5)
    assert w.grad is gradient


def test_batches_of_named_tuples(names: dict[str, Any]) -> None:
    data = names["torch"].utils.data
    point = namedtuple("point", "x y")
    found = data.default_collate([point(1, 2), point(3, 4)])
    assert (found.x.tolist(), found.y.tolist()) == ([1, 3], [2, 4])
    with pytest.raises(ValueError, match="drop_last"):
        data.DataLoader([1, 2], batch_size=None, drop_last=True)


def test_borders_with_a_value_for_each_channel(names: dict[str, Any]) -> None:
    from browsergpu.torch.vision.transforms import functional

    image = names["torch"].zeros(2, 1, 1)
    assert functional.pad(image, (1, 0), fill=(5, 7)).tolist() == [[[5, 0, 5]], [[7, 0, 7]]]
    assert functional.pad(image, (1, 0), fill=[3])[1].tolist() == [[3, 0, 3]]
    with pytest.raises(ValueError, match="2 numbers"):
        functional.pad(image, 1, fill=(1, 2, 3))


def test_nan_stays_in_the_gradient_of_sign(names: dict[str, Any]) -> None:
    x = names["torch"].tensor([nan, 2.0], requires_grad=True)
    (names["torch"].sign(x) * x).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]
    assert isnan((names["torch"].angle(x.detach()))[0].item())


def test_set_grad_enabled_lasts_without_a_block(names: dict[str, Any]) -> None:
    torch = names["torch"]
    x = torch.ones(1, requires_grad=True)
    torch.set_grad_enabled(False)
    try:
        assert not (x * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)
    assert (x * 2).requires_grad
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    double = torch.set_grad_enabled(False)(lambda x: x * 2)
    assert (double(x).requires_grad, (x * 2).requires_grad) == (False, True)
    with torch.no_grad():
        torch.set_grad_enabled(True)
        assert (x * 2).requires_grad
    assert torch.is_grad_enabled()


def test_hooks_get_tensors(names: dict[str, Any]) -> None:
    torch = names["torch"]
    x = torch.ones(2, requires_grad=True)
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(type(g)))
    x.register_hook(lambda g: g.clone() * 10)
    y.sum().backward()
    assert (seen, x.grad.tolist()) == ([torch.Tensor], [20.0, 20.0])
    assert y.grad_fn.name() == "MulBackward0"


@pytest.mark.parametrize("name", ["flip(0)", "fliplr()", "flipud()", "rot90(2)", "diag()"])
def test_these_are_copies(names: dict[str, Any], name: str) -> None:
    x = names["torch"].arange(4.0).view(2, 2)
    copied = eval(f"x.{name}", {"x": x})
    before = copied.tolist()
    x.zero_()
    assert copied.tolist() == before
    copied.fill_(7)
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "expression",
    ["+x", "x.positive()", "torch.conj(x)", "x.H", "x.mH", "x.adjoint()", "F.dropout(x, 0.0)",
     "F.dropout(x, 0.5, False)"],
)  # fmt: skip
def test_these_share_the_memory(names: dict[str, Any], expression: str) -> None:
    x = names["torch"].zeros(2, 2)
    eval(expression, {**names, "x": x}).fill_(7)
    assert x.tolist() == [[7.0, 7.0], [7.0, 7.0]]


def test_clamp_to_tensors_keeps_gradients_at_the_limits(names: dict[str, Any]) -> None:
    torch = names["torch"]
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    found = torch.clamp(x, torch.tensor(1.0), torch.tensor(2.0))
    found.sum().backward()
    assert (found.tolist(), x.grad.tolist()) == ([1.0, 2.0, 2.0], [1.0, 1.0, 0.0])
    low = torch.tensor([2.0, nan])
    np.testing.assert_array_equal(torch.clamp(torch.tensor([1.0, 5.0]), min=low).numpy(), [2, nan])


def test_solve_takes_a_vector_for_each_matrix(names: dict[str, Any]) -> None:
    torch = names["torch"]
    a = torch.tensor([[[2.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]])
    b = torch.tensor([[2.0, 4.0], [6.0, 8.0]])
    assert torch.linalg.solve(a, b).tolist() == [[1.0, 1.0], [6.0, 4.0]]
    assert torch.linalg.solve(a[0], b, left=False).tolist() == [[1.0, 1.0], [3.0, 2.0]]


def test_samples_without_batches_are_converted(names: dict[str, Any]) -> None:
    data = names["torch"].utils.data
    found = list(data.DataLoader([(1, np.float32([2, 3]))], batch_size=None))
    assert (found[0][0], found[0][1].tolist()) == (1, [2.0, 3.0])
    assert type(found[0]) is list
    assert data.default_collate([("a", 1), ("b", 2)])[0] == ("a", "b")


#: Tensors, with PyTorch's text.
TEXTS = [
    ("torch.tensor([1e5, 1.0])", "tensor([1.0000e+05, 1.0000e+00])"),
    ("torch.zeros(0, 3, dtype=torch.int64)", "tensor([], size=(0, 3), dtype=torch.int64)"),
    ("torch.arange(2000)", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    ("torch.tensor([nan, 1.5])", "tensor([   nan, 1.5000])"),
    ("torch.tensor([inf, -inf, 0.0])", "tensor([inf, -inf, 0.])"),
    ("torch.tensor([1 + 2j, -0.5j])", "tensor([1.+2.0000j, -0.-0.5000j])"),
    ("torch.tensor(12345.678)", "tensor(12345.6777)"),
    ("torch.tensor([[True], [False]])", "tensor([[ True],\n        [False]])"),
    ("nn.Parameter(torch.ones(1))", "Parameter containing:\ntensor([1.], requires_grad=True)"),
    ("torch.ones(2, requires_grad=True) * 2", "tensor([2., 2.], grad_fn=<MulBackward0>)"),
]


@pytest.mark.parametrize(("expression", "expected"), TEXTS)
def test_text(names: dict[str, Any], expression: str, expected: str) -> None:
    assert repr(eval(expression, names)) == expected


def test_short_text(names: dict[str, Any]) -> None:
    torch = names["torch"]
    torch.set_printoptions(edgeitems=1, threshold=3, linewidth=20)
    try:
        assert repr(torch.zeros(3, dtype=torch.int8)) == (
            "tensor([0, 0, 0],\n       dtype=torch.int8)"
        )
    finally:
        torch.set_printoptions(profile="default")
    assert repr(torch.arange(30)).count("\n") == 1


def test_several_tensors_at_least_get_axes(names: dict[str, Any]) -> None:
    torch = names["torch"]
    found = torch.atleast_1d([torch.tensor(1.0), torch.ones(2)])
    assert [tuple(x.shape) for x in found] == [(1,), (2,)]
    assert [tuple(x.shape) for x in torch.atleast_2d(*found)] == [(1, 1), (1, 2)]


def test_text_of_loaded_states(names: dict[str, Any]) -> None:
    layer = names["nn"].Linear(1, 1)
    assert str(layer.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"
    found = layer.load_state_dict({"x": names["torch"].ones(1)}, strict=False)
    text = "_IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=['x'])"
    assert (repr(found), found.missing_keys) == (text, ["weight", "bias"])


def test_one_seed_gives_unrelated_numbers(names: dict[str, Any]) -> None:
    torch, n = names["torch"], 2500
    drawn = []
    for draw in (
        lambda: torch.rand(n),
        lambda: names["F"].dropout(torch.ones(n), 0.5),
        lambda: torch.randn(n),
        lambda: names["nn"].Linear(50, 50).weight.detach().view(-1),
    ):
        torch.manual_seed(0)
        drawn.append(draw().numpy())
    of = np.corrcoef(drawn)
    assert abs(of[0, 1]) < 0.1  # data and dropout
    assert abs(of[0, 3]) < 0.1  # data and weights
    assert abs(of[2, 1]) < 0.1


@pytest.mark.parametrize(
    ("dtype", "most"),
    [("bool", 1), ("int8", 127), ("uint8", 255), ("float16", 2048), ("int64", 2**63 - 1)],
)
def test_random_integers_fit_the_dtype(names: dict[str, Any], dtype: str, most: int) -> None:
    x = names["torch"].empty(500, dtype=getattr(names["torch"], dtype)).random_().tolist()
    assert 0 <= min(x) <= most // 4
    assert most // 2 < max(x) <= most
    assert 0.4 < sum(x) / len(x) / most < 0.6


def test_pickled_tensors_are_tensors(names: dict[str, Any]) -> None:
    torch = names["torch"]
    ones = torch.ones(2)
    for x in (ones, torch.ones(2, requires_grad=True), names["nn"].Parameter(ones)):
        found = pickle.loads(pickle.dumps(x))
        assert isinstance(found, torch.Tensor)
        assert (found.tolist(), found.requires_grad) == ([1.0, 1.0], x.requires_grad)
    assert isinstance(found, names["nn"].Parameter)


def test_numbers_of_numpy_choose_floats(names: dict[str, Any]) -> None:
    torch = names["torch"]
    condition = torch.tensor([True, False])
    assert torch.where(condition, np.sqrt(4.0), 0).tolist() == [2.0, 0.0]
    assert torch.where(condition, np.sqrt(4.0), 0).dtype == torch.float32
    assert torch.where(condition, np.bool_(True), False).dtype == torch.bool


def test_a_mode_of_gradients_is_entered_again(names: dict[str, Any]) -> None:
    torch = names["torch"]
    off = torch.set_grad_enabled(False)
    torch.set_grad_enabled(True)
    for _ in range(2):
        with off:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, x: torch.where(True, x, x),
        lambda torch, x: torch.index_select(x, 0, [0]),
        lambda torch, x: torch.masked_fill(x, [True], 0),
        lambda torch, x: torch.index_add(x, 0, [0], x),
    ],
    ids=["where", "index_select", "masked_fill", "index_add"],
)
def test_lists_beside_tensors_are_refused(names: dict[str, Any], call: Any) -> None:
    torch = names["torch"]
    with pytest.raises(TypeError, match=r"must be a (bool )?tensor"):
        call(torch, torch.tensor([1.5]))


def test_factors_fit_the_product(names: dict[str, Any]) -> None:
    torch = names["torch"]
    half = torch.tensor([1.5])
    assert torch.addcmul(torch.tensor([1]), half, half, value=0.5).tolist() == [2.125]
    assert torch.scalar_tensor(3, dtype=None).dtype == torch.float32
    with pytest.raises(TypeError, match="random_"):
        torch.zeros(2, dtype=torch.complex64).random_()

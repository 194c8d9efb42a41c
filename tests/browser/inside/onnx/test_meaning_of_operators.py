"""Operators whose inputs and attributes have the specification's meaning, or are refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def test_the_first_axis_becomes_the_second_one_from_the_end(bg: Any) -> None:
    from browsergpu.onnx.operators.microsoft.fused import fused_matmul

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(4, 2, 3, 5)), rng.normal(size=(2, 3, 5, 6))
    a, b = a.astype(np.float32), b.astype(np.float32)
    found = fused_matmul(bg.asarray(a), bg.asarray(b), transBatchA=1)
    np.testing.assert_allclose(np.asarray(found), np.moveaxis(a, 0, -2) @ b, rtol=1e-4, atol=1e-5)


def test_packed_queries_have_a_bias(bg: Any) -> None:
    from browsergpu.onnx.operators.microsoft.attention import multi_head_attention

    rng = np.random.default_rng(1)
    packed = rng.normal(size=(1, 4, 2, 3, 5)).astype(np.float32)
    bias = rng.normal(size=30).astype(np.float32)
    node: Any = SimpleNamespace(wants=lambda _: False)
    rows = [packed[:, :, :, at].reshape(1, 4, 10) for at in range(3)]
    found = multi_head_attention(
        bg.asarray(packed), None, None, bg.asarray(bias), num_heads=2, node=node
    )
    expected = multi_head_attention(
        *map(bg.asarray, rows), bg.asarray(bias), num_heads=2, node=node
    )
    np.testing.assert_allclose(np.asarray(found[0]), np.asarray(expected[0]), rtol=1e-5)
    keys = bg.asarray(rng.normal(size=(1, 4, 2, 2, 5)).astype(np.float32))
    with pytest.raises(ValueError, match="bias must be missing"):
        multi_head_attention(
            bg.asarray(rows[0]), keys, None, bg.asarray(bias), num_heads=2, node=node
        )


def test_sizes_that_do_not_fit_are_refused(bg: Any) -> None:
    from browsergpu.onnx.operators.arrays.control import split_to_sequence
    from browsergpu.onnx.operators.arrays.ordering import top_k

    x = bg.arange(5)
    node: Any = SimpleNamespace(read=lambda split: split)
    with pytest.raises(ValueError, match="split must add up to 5"):
        split_to_sequence(x, np.array([2, 2]), node=node)
    ((first, last),) = split_to_sequence(x, np.array([2, 3]), node=node)
    assert (first.tolist(), last.tolist()) == ([0, 1], [2, 3, 4])
    with pytest.raises(ValueError, match="k must be from 0 to 5"):
        top_k(x, 6)


@pytest.mark.parametrize(("rule", "given"), [
    ("linear", "decay"), ("gated", ""), ("gated", "decay beta"), ("delta", ""),
    ("gated_delta", "decay"),
])  # fmt: skip
def test_the_update_rule_says_which_inputs_there_are(bg: Any, rule: str, given: str) -> None:
    from browsergpu.onnx.operators.networks.attention import linear_attention

    x = bg.ones((1, 3, 4))
    inputs = {"decay": x, "beta": bg.ones((1, 3, 2))}
    with pytest.raises(ValueError, match="for update_rule"):
        linear_attention(
            x, x, x, kv_num_heads=2, q_num_heads=2, update_rule=rule,
            **{name: inputs[name] for name in given.split()},
        )  # fmt: skip

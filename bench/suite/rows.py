"""The rows of the tables: small ones for tests, and big ones for a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt
from typing import Any

from suite.array_rows import array_rows
from suite.data import Input
from suite.row import Row

SIZES = ("small", "big")

#: ResNet-50's distinct convolutions at batch 1 (v1.5, with the stride in the 3 × 3 convolution of a
#: stage's first block): channels, filters, extent of the filter, extent of the image, stride.
RESNET_50 = (
    (3, 64, 7, 224, 2),
    (64, 64, 1, 56, 1),
    (64, 64, 3, 56, 1),
    (64, 256, 1, 56, 1),
    (256, 64, 1, 56, 1),
    (256, 128, 1, 56, 1),
    (128, 128, 3, 56, 2),
    (256, 512, 1, 56, 2),
    (128, 512, 1, 28, 1),
    (512, 128, 1, 28, 1),
    (128, 128, 3, 28, 1),
    (512, 256, 1, 28, 1),
    (256, 256, 3, 28, 2),
    (512, 1024, 1, 28, 2),
    (256, 1024, 1, 14, 1),
    (1024, 256, 1, 14, 1),
    (256, 256, 3, 14, 1),
    (1024, 512, 1, 14, 1),
    (512, 512, 3, 14, 2),
    (1024, 2048, 1, 14, 2),
    (512, 2048, 1, 7, 1),
    (2048, 512, 1, 7, 1),
    (512, 512, 3, 7, 1),
)


def rows(sizes: str) -> list[Row]:
    """Return all rows, the most important ones first."""
    small = sizes == "small"
    made = [*_matmuls(small), *_convolutions(small), *_attentions(small)]
    made += [*_memory_bound(small, 1), *_small_things(small), *_memory_bound(small, 8)]
    made += [*_fused(small), *_first_results(small), *array_rows(small)]
    assert len({row.id for row in made}) == len(made)
    return made


def _matmul(
    m: int, k: int, n: int, *, dtype: str = "f32", batch: int = 0, goal: float | None = None,
    section: str = "matmul", **options: bool,
) -> Row:  # fmt: skip
    lead = (batch,) if batch else ()
    a = (*lead, k, m) if options.get("transpose_a") else (*lead, m, k)
    b = (*lead, n, k) if options.get("transpose_b") else (*lead, k, n)
    inputs = {"a": Input(a, 1, dtype), "b": Input(b, 2, dtype)}
    count, width = max(batch, 1), 2 if dtype == "f16" else 4
    notes = "".join(f" {name} transposed" for name in "ab" if options.get(f"transpose_{name}"))
    batches = f"{batch} × " if batch else ""
    thin = min(m, n) == 1
    return Row(
        id=f"matmul {dtype} {batches}{m}×{k}×{n}{notes}",
        section=section,
        op="matmul",
        dtype=dtype,
        inputs=inputs,
        out=(*lead, m, n),
        options={"m": m, "k": k, "n": n, "batch": batch, **options},
        flops=2.0 * count * m * k * n,
        nbytes=float(width * count * (m * k + k * n + m * n)),
        unit="TB/s" if thin else "TFLOP/s",
        goal=goal,
        tolerance=(0.01 if dtype == "f16" else 2e-5) * sqrt(k),
    )


def _matmuls(small: bool) -> Iterator[Row]:
    squares = ((64, None),) if small else ((1024, 32), (2048, 44), (3072, None), (4096, 46))
    for n, goal in squares:
        yield _matmul(n, n, n, goal=goal)
    for n, goal in ((64, None),) if small else ((2048, 400), (4096, 450)):
        yield _matmul(n, n, n, dtype="f16", goal=goal)
    odd = "matmul of odd shapes"
    shapes = (
        ((33, 35, 31), (1, 128, 64), (64, 128, 1), (8, 1024, 8))
        if small
        else ((1000, 1003, 999), (1, 4096, 4096), (4096, 4096, 1), (128, 65536, 128))
    )
    for m, k, n in shapes:
        yield _matmul(m, k, n, section=odd)
    n = 16 if small else 128
    yield _matmul(n, n, n, batch=3 if small else 64, section=odd)
    n = 64 if small else 2048
    yield _matmul(n, n, n, transpose_a=True, section=odd)
    yield _matmul(n, n, n, transpose_b=True, section=odd)
    for n in (64,) if small else (1024, 2048, 4096, 8192):
        yield _matmul_high(n)


def _matmul_high(n: int) -> Row:
    """Return a product of precision "high", compared with "highest"."""
    row = _matmul(n, n, n, section='matmul of precision "high", against "highest"')
    row.id, row.op, row.unit, row.ours_only = f"{row.id}, high", "matmul_high", "ms", True
    return row


def _conv(c: int, f: int, r: int, h: int, stride: int, **more: Any) -> Row:
    padding = r // 2
    p = (h + 2 * padding - r) // stride + 1
    image, w = (1, c, h, h), (f, c, r, r)
    by = f" / {stride}" if stride > 1 else ""
    return Row(
        **{
            "id": f"conv {r}×{r}{by}, {c}×{h}×{h} → {f}",
            "section": "convolutions of ResNet-50",
            "op": "conv2d",
            "dtype": "f32",
            "inputs": {"x": Input(image, 3), "w": Input(w, 4)},
            "out": (1, f, p, p),
            "options": {"stride": stride, "padding": padding},
            "flops": 2.0 * f * p * p * c * r * r,
            "nbytes": 4.0 * (prod(image) + prod(w) + f * p * p),
            "unit": "TFLOP/s",
            "tolerance": 5e-5 * sqrt(c * r * r),
            "budget": 0.4,
        }
        | more
    )


def _convolutions(small: bool) -> Iterator[Row]:
    layers = ((3, 8, 7, 20, 2), (16, 16, 3, 14, 1), (16, 24, 1, 7, 2)) if small else RESNET_50
    for layer in layers:
        yield _conv(*layer, goal=20 if layer == (64, 64, 3, 56, 1) else None)


def _attention(h: int, s: int, d: int, dtype: str, causal: bool, goal: float | None = None) -> Row:
    shape = (1, h, s, d)
    pairs = s * (s + 1) / 2 if causal else float(s * s)
    width = 2 if dtype == "f16" else 4
    return Row(
        id=f"attention {dtype}, {h} heads, {s}×{d}{', causal' if causal else ''}",
        section="attention",
        op="attention",
        dtype=dtype,
        inputs={name: Input(shape, salt, dtype) for salt, name in enumerate("qkv", 5)},
        out=shape,
        options={"heads": h, "length": s, "width": d, "causal": causal},
        flops=4.0 * h * d * pairs,
        nbytes=4.0 * width * h * s * d,
        unit="TFLOP/s",
        goal=goal,
        tolerance=5e-3 if dtype == "f16" else 1e-4,
        budget=0.8,
    )


def _attentions(small: bool) -> Iterator[Row]:
    h, d = (2, 32) if small else (12, 64)
    yield _attention(h, 40 if small else 1024, d, "f32", False, None if small else 26)
    yield _attention(h, 40 if small else 1024, d, "f32", True)
    yield _attention(h, 40 if small else 1024, d, "f16", False, None if small else 150)
    if not small:
        yield _attention(h, 4096, d, "f32", False, 32)
        yield _attention(h, 4096, d, "f32", True)
        yield _attention(h, 4096, d, "f16", False, 250)


def _memory_bound(small: bool, repeat: int) -> Iterator[Row]:
    """Return rows with 64 MiB of input, or ``repeat`` times as much."""
    n, width = (32, 16) if small else (4096, 1024)
    shape = (repeat * n, n)
    wide = (repeat * n * n // width, width)
    elements = repeat * n * n
    mib = elements * 4 / 2**20
    size = f"{mib:g} MiB"
    goal = None if small else {1: 2.5, 8: 3.2}[repeat]

    def row(op: str, what: str, x: tuple[int, ...], out: tuple[int, ...], **more: Any) -> Row:
        inputs = {"x": Input(x, 8, repeat=repeat)} | more.pop("inputs", {})
        read = sum(i.size for i in inputs.values() if len(i.shape) > 1 or i.size > width)
        return Row(
            **{
                "id": f"{what}, {size}",
                "section": f"memory-bound, {size}",
                "op": op,
                "dtype": "f32",
                "inputs": inputs,
                "out": out,
                "nbytes": 4.0 * (read + prod(out)),
                "unit": "TB/s",
                "goal": goal,
                "tolerance": 1e-6,
                "budget": 0.4,
            }
            | more
        )

    weights = {
        "gamma": Input((width,), 10),
        "beta": Input((width,), 11),
    }
    here = goal if repeat > 1 else None if small else 3.4
    yield row(
        "softmax", "softmax", shape, shape, tolerance=1e-3 / n, options={"axis": -1}, goal=here
    )  # fmt: skip
    if repeat == 1:
        long = (4, n * n // 4) if small else (256, n * n // 256)
        for what, of, axis in (("of axis 0", shape, 0), (f"of rows of {long[1]}", long, -1)):
            yield row(
                "softmax", f"softmax {what}", of, of,
                tolerance=1e-3 / n, options={"axis": axis}, goal=None if small else 2.8,
            )  # fmt: skip
    yield row("layer_norm", "layer norm", wide, wide, tolerance=1e-4, inputs=weights)
    for axis in (1, 0):
        length = shape[axis]
        yield row(
            "sum", f"sum of axis {axis}", shape, (shape[1 - axis],),
            tolerance=1e-6 * length, options={"axis": axis}, goal=None if small else 3.2,
        )  # fmt: skip
    yield row("relu", "relu", shape, shape)
    yield row(
        "add", "add", shape, shape, inputs={"y": Input(shape, 9, repeat=repeat)}
    )  # fmt: skip
    yield row("transpose", "transpose", shape, shape[::-1], tolerance=0.0)
    yield row(
        "variance", "variance of axis 1", shape, (shape[0],), tolerance=1e-4, options={"axis": 1}
    )


def _small_things(small: bool) -> Iterator[Row]:
    length = 20 if small else 1000
    shape = (1024,)
    yield Row(
        id=f"chain of {length} small ops",
        section="overheads",
        op="chain",
        dtype="f32",
        inputs={"x": Input(shape, 12), "y": Input(shape, 13)},
        out=shape,
        options={"length": length, "single": True},
        unit="µs",
        goal=None if small else 3,
        tolerance=1e-2,
        budget=1.0,
    )
    n = 2**16 if small else 2**26
    for op, goal in (("upload", 3), ("readback", 3)):
        what = "upload" if op == "upload" else "read back"
        yield Row(
            id=f"{what}, {n * 4 / 2**20:g} MiB",
            section="overheads",
            op=op,
            dtype="f32",
            inputs={"x": Input((n,), 14)},
            out=(n,),
            nbytes=4.0 * n,
            unit="GB/s",
            goal=None if small else goal,
            tolerance=0.0,
            budget=2.0,
        )


def _fused(small: bool) -> Iterator[Row]:
    tokens, width = (24, 32) if small else (8192, 768)
    length, heads = (24, 2) if small else (1024, 12)

    def row(op: str, name: str, out: tuple[int, ...], flops: float, **more: Any) -> Row:
        return Row(
            id=name, section="fused, against our own parts", op=op, dtype="f32", out=out,
            flops=flops, unit="ms", ours_only=True, **more,
        )  # fmt: skip

    inner = 4 * width
    yield row(
        "linear_gelu",
        f"matmul + bias + gelu, {tokens}×{width}×{inner}",
        (tokens, inner),
        2.0 * tokens * width * inner,
        inputs={
            "x": Input((tokens, width), 15),
            "w": Input((width, inner), 16),
            "bias": Input((inner,), 17),
        },
        options={"k": width},
        tolerance=2e-5 * sqrt(width),
    )
    yield row(
        "add_layer_norm",
        f"residual add + layer norm, {tokens}×{width}",
        (tokens, width),
        0,
        inputs={
            "x": Input((tokens, width), 18),
            "residual": Input((tokens, width), 19),
            "gamma": Input((width,), 10),
            "beta": Input((width,), 11),
        },
        tolerance=1e-4,
    )
    yield row(
        "attention_block",
        f"attention block, {length}×{width}, {heads} heads",
        (1, length, width),
        8.0 * length * width * width + 4.0 * length * length * width,
        inputs={
            "x": Input((1, length, width), 20),
            "w_qkv": Input((width, 3 * width), 21, scale=0.25),
            "b_qkv": Input((3 * width,), 22),
            "w_out": Input((width, width), 23, scale=0.25),
            "b_out": Input((width,), 24),
        },
        options={"heads": heads},
        tolerance=2e-5 * sqrt(width),
    )


def _first_results(small: bool) -> Iterator[Row]:
    n = 64 if small else 1024
    plain = [
        _matmul(n, n, n),
        Row(
            id=f"softmax {n}×{n}", section="", op="softmax", dtype="f32",
            inputs={"x": Input((n, n), 8)},
            out=(n, n), unit="ms", tolerance=1e-3 / n, options={"axis": -1},
        ),
        _conv(16, 16, 3, 14, 1) if small else _conv(64, 64, 3, 56, 1),
    ]  # fmt: skip
    for row in plain:
        row.id = f"first result: {row.id}"
        row.section, row.unit, row.goal = "first result after loading", "ms", None
        row.first = True
        yield row

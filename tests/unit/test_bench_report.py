"""The rows of the benchmark, and the report made from the lines that pages post."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "bench" / "page")]

import programs  # noqa: E402
from suite import plot, report, rows, table  # noqa: E402
from suite.data import PERIOD, Input  # noqa: E402

pytestmark = pytest.mark.fast

RIGHT = {"ok": True, "error": 0.0, "tolerance": 1e-6}
WRONG = {"ok": False, "error": 0.5, "tolerance": 1e-6}
ABOUT = {"date": "2026-01-02", "browser": "Chromium 1", "flags": [], "gpu": "GPU 9, 5.1"}
CUBE = "matmul f32 2048×2048×2048"
CHAIN = "chain of 1000 small ops"
FUSED = "residual add + layer norm, 8192×768"
CUMSUM = "arrays: cumsum of 16 Mi"
SORT = "arrays: sort 16 Mi"


def read(tmp_path: Path, *lines: dict[str, Any]) -> report.Report:
    """Return the report of the given lines."""
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (ABOUT, *lines)), "utf-8")
    return report.read([path], "big")


def line(peer: str, row: str, ms: float, check: Any = RIGHT, **more: Any) -> dict[str, Any]:
    return {"peer": peer, "row": row, "ms": ms, "check": check, **more}


def result(told: report.Report, row: str) -> report.Result:
    return next(each for each in told.results if each.row.id == row)


@pytest.mark.parametrize("sizes", rows.SIZES)
def test_rows_have_names_of_their_own_and_reference_values(sizes: str) -> None:
    made = rows.rows(sizes)
    assert len({row.id for row in made}) == len(made)
    small = [row for row in made if sizes == "small" or (row.flops < 1e9 and not row.array)]
    for row in small:
        told = row.as_json()
        assert len(told["check"]["at"]) == len(told["check"]["values"]) > 1
        assert np.isfinite(told["check"]["values"]).all()


def test_an_input_is_known_from_its_places() -> None:
    x = Input((6, 5), salt=3, repeat=2, scale=2.0)
    whole = np.concatenate([x.copy(), x.copy()]).ravel()
    np.testing.assert_array_equal(x.at(np.arange(30)), whole)
    assert (np.abs(whole) <= 1).all()
    assert (whole != 0).all()
    long = Input((PERIOD + 7,), salt=1, dtype="f16")
    assert long.copy().dtype == np.float16
    np.testing.assert_array_equal(long.at(np.arange(PERIOD, PERIOD + 7)), long.copy()[:7])


@pytest.mark.parametrize(
    "row", [row for row in rows.rows("small") if row.array], ids=lambda r: r.op
)
def test_a_program_of_arrays_gives_its_reference_values(row: rows.Row) -> None:
    told = row.as_json()
    data = {name: x.copy() for name, x in row.inputs.items()}
    arrays, options = programs.prepared(row.op, data, row.options, row.out)
    with np.errstate(over="ignore", invalid="ignore"):  # Mandelbrot's points diverge
        found = programs.PROGRAMS[row.op](np, **arrays, **options)
    results = found if isinstance(found, (list, tuple)) else [found]
    got = programs.entries(row.op, results, arrays, told["check"]["at"])
    np.testing.assert_allclose(got, told["check"]["values"], rtol=0, atol=row.tolerance)


def test_a_permutation_is_known_from_its_places() -> None:
    x = Input((2**12,), dtype="i32")
    places = x.copy()
    assert sorted(places) == list(range(2**12))
    np.testing.assert_array_equal(x.at(np.arange(2**12)), places)
    assert [x.place_of(int(index)) for index in places[:50]] == list(range(50))


def test_rates_and_the_best_peer(tmp_path: Path) -> None:
    told = read(
        tmp_path,
        line("ours", CUBE, 0.5, kernel_ms=0.4),
        line("tfjs", CUBE, 1.0),
        line("ort", CUBE, 2.0, way="slow"),
        line("ort", CUBE, 0.8, way="quick"),
        line("jaxjs", CUBE, 0.1, WRONG),
        {"peer": "device", "row": "limit: multiply-adds, vec4f × 8", "flops": 6e10, "ms": 1.0},
        {"peer": "device", "row": "limit: multiply-adds, vec4<f16> × 8", "flops": 9e10, "ms": 1.0},
    )
    cube = result(told, CUBE)
    flops = 2 * 2048**3
    assert cube.reached["ours"] == pytest.approx(flops / 0.5e9)
    assert cube.kernels == pytest.approx(flops / 0.4e9)
    assert cube.best_peer == cube.reached["ort"] == pytest.approx(flops / 0.8e9)
    assert cube.speed(cube.reached["ours"]) == pytest.approx(1.6)
    assert "jaxjs" not in cube.reached
    assert "wrong result" in cube.problems["jaxjs"]
    assert cube.limit == pytest.approx(60)


def test_of_times_the_shorter_is_the_better(tmp_path: Path) -> None:
    told = read(
        tmp_path,
        line("ours", CHAIN, 5.0),
        line("tfjs", CHAIN, 20.0),
        line("ort", CHAIN, 10.0),
        line("ours", FUSED, 1.0, parts_ms=1.5),
    )
    chain = result(told, CHAIN)
    assert chain.reached["ours"] == pytest.approx(5.0)  # µs per step
    assert chain.speed(chain.reached["ours"]) == pytest.approx(2.0)
    fused = result(told, FUSED)
    assert fused.speed(fused.reached["ours"]) == pytest.approx(1.5)


def test_a_later_file_counts_more_but_not_its_failures(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("\n".join(map(json.dumps, (ABOUT, line("ours", CUBE, 1.0)))), "utf-8")
    second.write_text("\n".join(map(json.dumps, (ABOUT, line("ours", CUBE, 0.5)))), "utf-8")
    broken = tmp_path / "broken"
    broken.write_text(json.dumps({"peer": "ours", "row": CUBE, "error": "lost"}), "utf-8")
    told = report.read([first, second, broken], "big")
    assert result(told, CUBE).reached["ours"] == pytest.approx(2 * 2048**3 / 0.5e9)
    assert not result(told, CUBE).problems


def test_table_and_plot(tmp_path: Path) -> None:
    told = read(
        tmp_path,
        line("ours", CUBE, 0.5),
        line("tfjs", CUBE, 1.0),
        {"peer": "ort", "row": CUBE, "error": "no\nroom"},
    )
    assert told.name == "2026-01-02-gpu-9"
    text = table.full(told)
    assert f"| {CUBE} | TFLOP/s | **34.4** | – | 17.2 | – | 2.00× |" in text
    assert f"- {CUBE}, onnxruntime-web: no room" in text
    assert f"| {CUBE} |" in table.chief(told)
    picture = ElementTree.fromstring(plot.plot(told))
    assert any(node.text == CUBE for node in picture.iter())
    json.dumps(told.as_json())


def test_arrays_have_a_table_of_their_own(tmp_path: Path) -> None:
    told = read(
        tmp_path,
        line("ours", CUMSUM, 0.25, dispatches=3, replayed_ms=0.125),
        line("jaxjs", CUMSUM, 1.0),
        line("numpy", CUMSUM, 50.0),
        line("ours", SORT, 2.0, dispatches=12),
        {"peer": "tfjs", "row": SORT, "skip": "no sort"},
        {"peer": "device", "row": "limit: copy, 512 MiB", "nbytes": 4e9, "ms": 1.0},
        {"page": "arrays.html?library=numpy&only=", "error": "the page did not end"},
    )
    assert told.name == "2026-01-02-gpu-9-arrays"
    text = table.full(told)
    cumsum = (
        "| cumsum of 16 Mi | G elements/s | **67.1** | 134 | 3 | – | 16.8 | – | 0.34 | 4.00× "
        "| 8.00× | 200× |"
    )
    assert f"{cumsum} 500 | – |" in text
    assert (
        "| sort 16 Mi | G elements/s | 8.39 | – | 12 | – | – | – | – | – | – | – | – | 1.00 |"
        in text
    )
    assert f"- {SORT}, TensorFlow.js: no sort" in text
    assert f"- {SORT}, NumPy: the page did not end" in text
    assert f"{CUMSUM}, NumPy" not in text
    assert CUBE not in text
    assert "cumsum" not in table.chief(told)
    assert "cumsum" in plot.plot(told)


def test_a_report_without_results_can_be_shown(tmp_path: Path) -> None:
    told = read(tmp_path)
    assert CUBE in table.full(told)
    ElementTree.fromstring(plot.plot(told))


def test_the_readmes_table_is_replaced(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", "utf-8")
    for text in ("one", "two"):
        table.insert(readme, text)
    assert readme.read_text("utf-8") == f"before\n{table.BEGIN}\n\ntwo\n{table.END}\nafter\n"


def test_the_short_table_has_six_rows_of_the_long_one(tmp_path: Path) -> None:
    first = "first result: matmul f32 1024×1024×1024"
    told = read(tmp_path, line("ours", CHAIN, 5.0), line("ours", first, 215.0))
    head, _, *rows = table.brief(told).splitlines()
    assert len(rows) == 6
    assert {head, *rows} <= set(table.chief(told).splitlines())
    assert any(row.startswith(f"| {first} | ms | 215 |") for row in rows)


def test_the_readmes_rows_equal_the_performance_pages() -> None:
    readme, page = (
        (ROOT / name).read_text("utf-8").split(table.BEGIN)[1].split(table.END)[0].splitlines()
        for name in ("README.md", "docs/performance.md")
    )
    rows = [row for row in readme if row.startswith("|")]
    assert len(rows) == 8  # including the header
    assert set(rows) <= set(page)
    about = next(row for row in readme if row.startswith("On an "))
    assert any(row.startswith(about.removesuffix(":")) for row in page)


def test_pytorch_is_shown_but_not_compared(tmp_path: Path) -> None:
    told = read(
        tmp_path,
        line("ours", CUBE, 0.5),
        line("ort", CUBE, 1.0),
        line("torch", CUBE, 0.25),
        {"peer": "torch", "version": "2.11"},
    )
    cube = result(told, CUBE)
    assert cube.speed(cube.reached["ours"]) == 2
    full = table.full(told)
    assert "PyTorch on CUDA 2.11" in full
    row = next(one for one in full.splitlines() if CUBE in one)
    assert row.endswith(f"| {table.number(cube.reached['torch'])} |")
    assert "PyTorch" not in table.chief(told)
    assert "PyTorch" not in table.full(read(tmp_path, line("ours", CUBE, 0.5)))

"""docs/numpy.md lists how each public name of NumPy is served. A test writes its tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numpys_kinds import MODULES, Kind, kind_of, names

pytestmark = pytest.mark.fast

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "numpy.md"
#: Number of files in public projects that use each name; docs/numpy.md names the projects.
USE: dict[str, int] = json.loads((HERE / "numpys_use.json").read_text(encoding="utf-8"))
BEGIN, END = "<!-- tables: written by tests/unit/package/test_numpys_names.py -->", "<!-- end -->"

TITLES = {
    Kind.GPU: "Computed on the GPU",
    Kind.HOST: "Computed by NumPy on the host",
    Kind.NUMPY: "NumPy's own",
    Kind.REFUSED: "Not available",
}


def kinds() -> dict[str, Kind]:
    return {name: kind_of(name, theirs, ours) for name, theirs, ours in names()}


def tables() -> str:
    found = kinds()
    lines = []
    for kind, title in TITLES.items():
        lines += [f"### {title}", "", "| module | names |", "| --- | --- |"]
        for before in MODULES:
            own = [
                name.removeprefix(before) for name, one in found.items()
                if one is kind and name.rpartition(".")[0] == before.rstrip(".")
            ]  # fmt: skip
            if own:
                module = f"`numpy.{before}`".replace(".`", "`")
                lines.append(f"| {module} | {', '.join(f'`{name}`' for name in own)} |")
        lines.append("")
    return "\n".join(lines)


def test_the_tables_equal_the_pages() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"
    if wanted != PAGE.read_text(encoding="utf-8"):
        PAGE.write_text(wanted, encoding="utf-8")
        pytest.fail("docs/numpy.md was out of date. It has been written again: commit it")


def test_most_used_names_are_on_the_gpu() -> None:
    """Weights each computing name by the number of files that use it."""
    computing = {name: kind for name, kind in kinds().items() if kind is not Kind.NUMPY}
    total = sum(USE.get(name, 0) for name in computing)
    on_gpu = sum(USE.get(name, 0) for name, kind in computing.items() if kind is Kind.GPU)
    assert on_gpu / total >= 0.95
    assert f"{on_gpu / total:.1%}" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [n for n, kind in kinds().items() if kind is Kind.REFUSED])
def test_missing_names_suggest_a_replacement(name: str) -> None:
    before, _, own = name.rpartition(".")
    module = MODULES[f"{before}." if before else ""][1]
    with pytest.raises(AttributeError, match=r"\. (Use|Arrays|Iterate|The|browsergpu)"):
        getattr(module, own)

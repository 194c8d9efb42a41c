"""The gallery's files: saved outputs belong to the saved code, and each card has a picture."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PIL import Image

from gallery.pictures import CARD_SIZE, CARDS, DOCS
from gallery.saved import GALLERY, KEY, code_cells, digest, pictures, read
from gallery.sizes import ON_GPU, SIZES

pytestmark = pytest.mark.fast

MOST_BYTES = 300_000
LISTED = json.loads((GALLERY / "index.json").read_text(encoding="utf-8"))


def notebook(name: str) -> Any:
    return read(GALLERY / f"{name}.ipynb")


def test_each_notebook_has_sizes_or_needs_a_gpu() -> None:
    assert {one["file"].removesuffix(".ipynb") for one in LISTED} == {*SIZES, *ON_GPU}
    assert not {*SIZES} & {*ON_GPU}


@pytest.mark.parametrize("name", [*SIZES, *ON_GPU])
def test_outputs_are_those_of_the_code(name: str) -> None:
    """If this fails, run ``python tools/gallery NAME``."""
    found = notebook(name)
    assert found["metadata"][KEY] == {"outputs of": digest(found)}
    assert all(cell["execution_count"] for cell in code_cells(found))
    first = code_cells(found)[0]["outputs"]
    made_on = "an NVIDIA" if name in ON_GPU else "a software GPU"
    assert f"The outputs below are from {made_on}" in "".join(first[0]["text"])
    kinds = {output["output_type"] for cell in code_cells(found) for output in cell["outputs"]}
    assert "error" not in kinds
    assert pictures(found)
    assert (GALLERY / f"{name}.ipynb").stat().st_size < MOST_BYTES


@pytest.mark.parametrize("one", LISTED, ids=lambda one: one["title"])
def test_each_card_has_a_picture(one: Any) -> None:
    card, docs = (folder / one["file"].replace(".ipynb", ".jpg") for folder in (CARDS, DOCS))
    assert docs.is_file()
    with Image.open(card) as image:
        assert image.size == CARD_SIZE

"""Notebooks with the outputs of a run, in which only the first code cell had other code."""

import base64
import copy
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
#: The key of a notebook's metadata that tells how its outputs were made.
KEY = "browsergpu"
_PNG, _JPEG = "image/png", "image/jpeg"
_SMALL_BYTES = 20_000  # a PNG that is not encoded again
_QUALITY = 88


def read(path: Path) -> Any:
    """Return a notebook."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, notebook: Any) -> None:
    """Write a notebook as the page does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def digest(notebook: Any) -> str:
    """Return a hash of all code, which is saved with the outputs of that code."""
    code = json.dumps(["".join(cell["source"]) for cell in code_cells(notebook)])
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def with_sizes(notebook: Any, sizes: str, gpu: str | None, places: Mapping[str, str]) -> Any:
    """Return a notebook that prints which GPU it uses, software by default.

    ``sizes`` replaces the first code cell. An empty text keeps the cell. Addresses in ``places``
    are replaced in it.
    """
    made = copy.deepcopy(notebook)
    first = code_cells(made)[0]
    note = f"The outputs below are from {f'an {gpu}' if gpu else 'a software GPU'}"
    if sizes:
        note += f", with smaller sizes:\n{'; '.join(sizes.splitlines())}"
    code = sizes or "".join(first["source"])
    for address, place in places.items():
        code = code.replace(address, place)
    first["source"] = f"{code}\nprint({note + '.' * (not sizes)!r})"
    return made


def with_outputs(source: Any, ran: Any) -> Any:
    """Return the source with the outputs of its run."""
    made = copy.deepcopy(source)
    for cell, done in zip(code_cells(made), code_cells(ran), strict=True):
        cell["outputs"] = [_smaller(output) for output in done["outputs"]]
        cell["execution_count"] = done["execution_count"]
    made["metadata"][KEY] = {"outputs of": digest(source)}
    return made


def _smaller(output: Any) -> Any:
    """Return an output whose large picture is a JPEG instead of a PNG, if that has fewer bytes."""
    data = output.get("data", {})
    if _PNG not in data:
        return output
    png = base64.b64decode("".join(data[_PNG]))
    if len(png) < _SMALL_BYTES:
        return output
    file = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGBA")
    flat = Image.new("RGBA", image.size, "white")
    flat.alpha_composite(image)
    flat.convert("RGB").save(file, "JPEG", quality=_QUALITY, optimize=True)
    if len(file.getvalue()) >= len(png):
        return output
    text = base64.b64encode(file.getvalue()).decode()
    kept = {kind: value for kind, value in data.items() if kind != _PNG}
    metadata = {_JPEG if kind == _PNG else kind: one for kind, one in output["metadata"].items()}
    return {**output, "data": {_JPEG: text, **kept}, "metadata": metadata}


def pictures(notebook: Any) -> list[bytes]:
    """Return the pictures of all outputs, in order."""
    found = []
    for cell in code_cells(notebook):
        for output in cell["outputs"]:
            data = output.get("data", {})
            kind = next((kind for kind in (_PNG, _JPEG) if kind in data), None)
            if kind:
                found.append(base64.b64decode("".join(data[kind])))
    return found

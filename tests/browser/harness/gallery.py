"""The gallery's notebooks in the page, with small sizes, and their outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from harness.problems import assert_none

GALLERY = Path(__file__).resolve().parents[3] / "examples" / "gallery"
LISTED = json.loads((GALLERY / "index.json").read_text(encoding="utf-8"))

#: A file in place of nanoGPT's, with the same calls of PyTorch.
MODEL = (Path(__file__).parent / "gpt_model.py").read_text(encoding="utf-8")

#: Functions that make a file of a tiny language model.
_LLM = Path(__file__).parents[1] / "inside" / "llm"
TINY = (_LLM / "tiny.py").read_text(encoding="utf-8")
#: Functions that make a folder of a tiny encoder.
FOLDERS = (
    (_LLM / "folders.py").read_text(encoding="utf-8").replace("from inside.llm import", "import")
)

#: Small sizes, as replacements of the notebooks' first cells.
SMALL = {
    "darkroom": "height, width = 54, 80\nframes = 3",
    "mandelbrot": "height, width = 60, 80\nsteps = 3000",
    "heat": "size = 64\nframes, steps = 2, 5",
    "colours": "height, width = 48, 64\nk = 4\nrounds = 4",
    "life": "size = 64\nframes = 4",
    "fluid": "size = 48\nframes = 3\nspeed = 1.5",
    "raytracing": "height, width = 54, 96",
    "nbody": "stars = 2000\nframes, steps = 2, 2\nheight, width = 135, 240",
    "digits": "epochs = 3\nbatch = 64\nchannels = 8",
    "letters": "layers, width, heads, length = 2, 32, 2, 32\nbatch, steps = 8, 30",
    "nanogpt": "layers, width, heads, length = 2, 32, 2, 32\nbatch, steps = 8, 40\n"
    "commit = address = 'nowhere'",  # the test has a host, whose address it gives
    "swirl": "points, side = 2000, 64\nwidth, batch, steps, times = 48, 256, 150, 8",
    "membrane": "points, width, steps = 128, 16, 120\nside = 48",
    "chat": f"from pathlib import Path\nPath('tiny.py').write_text({TINY!r})\n"
    "import browsergpu as bg\nimport tiny\nsource = 'tiny.gguf'\ncontext, most = 128, 8\n"
    "Path(source).write_bytes(tiny.file_of(bg, tiny.weights('llama'), tiny.metadata('llama')))",
    "notes": f"from pathlib import Path\nPath('tiny.py').write_text({TINY!r})\n"
    f"Path('folders.py').write_text({FOLDERS!r})\n"
    "import browsergpu as bg\nimport folders, tiny\naddress, question = 'tiny', 'milk and eggs'\n"
    "folders.encoder(bg, Path(address), tiny.with_biases('bert'))",
    "retrained": "channels, epochs, rounds = 8, 3, 60",
    "text": "photo = ''\naddress = '/text-models'",
}

FLAT_PNG = 1500  # bytes; a canvas of a single colour has fewer


@contextmanager
def open_gallery(lab: Lab) -> Iterator[NotebookPage]:
    """Open a page whose gallery has notebooks with small sizes."""

    def serve(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1].removesuffix(".ipynb")
        text = (GALLERY / f"{name}.ipynb").read_text(encoding="utf-8")
        file = json.loads(text)
        next(one for one in file["cells"] if one["cell_type"] == "code")["source"] = SMALL[name]
        route.fulfill(json=file)

    with open_notebook(lab, viewport={"width": 1360, "height": 900}) as (notebook, problems):
        expect(notebook.cell(0).locator("h1")).to_have_text("Python on your GPU")
        notebook.page.route("**/gallery/*.ipynb", serve)
        yield notebook
        assert_none(problems)


def run(notebook: NotebookPage, name: str) -> str:
    """Run a notebook of the gallery, which must draw an image, and return its output."""
    show(notebook, name)
    return run_shown(notebook)


def show(notebook: NotebookPage, name: str) -> None:
    """Open a notebook of the gallery."""
    (title,) = (one["title"] for one in LISTED if one["file"] == f"{name}.ipynb")
    notebook.restart()  # a kernel without variables is passed on, so that kernels do not add up
    notebook.press("Gallery")
    notebook.page.get_by_role("dialog").get_by_role("button", name=title, exact=True).click()
    expect(notebook.page.get_by_role("dialog")).to_have_count(0)
    expect(notebook.page.locator(".title-input")).to_have_value(name)
    notebook.close_messages()


def run_shown(notebook: NotebookPage) -> str:
    """Run the notebook that is open, which must draw an image, and return its output."""
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.page.locator(".output-traceback")).to_have_count(0)
    assert len(last_canvas(notebook.page).screenshot()) > FLAT_PNG
    return "\n".join(notebook.page.locator(".cell-outputs").all_inner_texts())


def last_canvas(page: Page) -> Locator:
    """Return the last drawing. Saved pictures are images, so this is drawn by this run."""
    return page.locator("canvas").and_(page.get_by_role("img", name="on gpu-canvas")).last


def number(text: str, before: str) -> float:
    """Return the number after the given words."""
    found = re.search(re.escape(before) + r"\s+(-?[\d.]+(?:e[+-]?\d+)?)", text)
    assert found, text
    return float(found[1])

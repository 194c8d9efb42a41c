"""The gallery's notebook that reads text, also without its host after the first visit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.gallery import SMALL, last_canvas
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.published import run_all, wait_for_files
from harness.static import static_host
from playwright.sync_api import Page, expect

from devsite.site import prepare
from onnx_suite.packages import unpacked
from publish.folder import publish

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx")

DRAW = """
import sys
from PIL import Image, ImageDraw, ImageFont
picture = Image.new("RGB", (320, 96), "white")
pen = ImageDraw.Draw(picture)
pen.text((24, 28), "dropped here", fill="black", font=ImageFont.load_default(32))
picture.save(sys.argv[1])
"""


@pytest.fixture(scope="module")
def packages() -> Path:
    return unpacked(ROOT / ".cache" / "onnx")


@pytest.fixture(scope="module")
def host(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host's folder with the page at project/, and the two models."""
    host = tmp_path_factory.mktemp("host")
    publish(prepare().roots, host / "project")
    (host / "text-models").mkdir()
    for name in NAMES:
        shutil.copy(packages / "rapidocr" / "models" / name, host / "text-models")
    return host


@pytest.fixture
def page(lab: Lab) -> Iterator[Page]:
    context = lab.new_context(viewport={"width": 1360, "height": 900})
    yield context.new_page()
    context.close()


def picture(packages: Path, path: Path) -> bytes:
    """A PNG with a line of text."""
    environment = os.environ | {"PYTHONPATH": str(packages)}
    subprocess.run([sys.executable, "-c", DRAW, str(path)], env=environment, check=True)
    return path.read_bytes()


def test_text_is_read_offline_after_the_first_visit(
    page: Page, host: Path, packages: Path, tmp_path: Path
) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rsplit("/", 1)[-1]))
    with static_host(host) as address:
        notebook = NotebookPage(page, f"{address}/project")
        notebook.open()
        notebook.press("Gallery")
        chosen = page.get_by_role("dialog").get_by_role("button", name="Text from a picture")
        chosen.click()
        expect(page.locator(".title-input")).to_have_value("text")
        notebook.close_messages()
        text = run_all(notebook, SMALL["text"])
        assert "Hello, GPU 123" in text
        assert "read in a browser" in text
        assert "2 lines" in text
        content = picture(packages, tmp_path / "sign.png")
        notebook.drop([{"name": "sign.png", "type": "image/png", "bytes": list(content)}])
        notebook.close_messages()
        notebook.wait_kept()
        wait_for_files(page, host)
    fetched.clear()
    page.reload()
    notebook.wait_idle()
    text = run_all(notebook, "photo = 'sign.png'\naddress = ''")
    assert "dropped here" in text
    assert "1 lines" in text
    assert not set(NAMES) & set(fetched)
    expect(last_canvas(page)).to_be_visible()

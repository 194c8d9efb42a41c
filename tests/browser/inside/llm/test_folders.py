"""Folders of safetensors, from paths and from addresses."""

from __future__ import annotations

import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inside.llm import folders, tiny
from inside.llm.reference import Decoder, of_bert

pytestmark = pytest.mark.native

TOKENS = [1, 20, 33, 250, 7, 90, 90, 41, 5]
needs_sockets = pytest.mark.skipif(sys.platform == "emscripten", reason="a page has no server")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and notes what is asked for."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path.removeprefix("/served/"))
        super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, str, list[str]]]:
    """A folder, its address, and the names of requested files. Downloads are kept elsewhere."""
    from browsergpu.engine.gpu import platform

    folder, asked = tmp_path / "served", []
    folder.mkdir()
    monkeypatch.setattr(platform, "kept_folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(Handler, "asked", asked, raising=False)
    handler = functools.partial(Handler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}/served/", asked
        server.shutdown()


def _check_decoder(llm: Any, weights: dict[str, np.ndarray]) -> None:
    expected = Decoder(weights, tiny.metadata("qwen3")).logits(TOKENS)
    found = np.asarray(llm.logits(TOKENS))
    # float32 sums in another order
    assert np.abs(found - expected).max() < 2e-4 * np.abs(expected).max()
    assert llm.tokenizer.encode("hello the") == llm.tokenizer.encode("hello the", False)
    assert llm.tokenizer.decode(llm.tokenizer.encode("hello the")) == "hello the"


@pytest.mark.fast
@pytest.mark.parametrize("parts", [1, 3])
def test_a_decoder(bg: Any, tmp_path: Path, parts: int) -> None:
    weights = tiny.weights("qwen3")
    folders.decoder(bg, tmp_path, weights, parts)
    llm = bg.llm.load(tmp_path, context=32)
    _check_decoder(llm, weights)
    llm.close()


def test_matrices_of_float16(bg: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay float16 on the GPU. In a page, files are read in parts."""
    from browsergpu.functions.interchange import uploads
    from browsergpu.functions.interchange.file_parts import FileParts
    from browsergpu.networks.files import safetensors

    monkeypatch.setattr(uploads, "_PIECE", 4096)
    monkeypatch.setattr(safetensors, "file_parts", lambda op, name, file: FileParts(file))
    halves = {name: x.astype(np.float16) for name, x in tiny.weights("qwen3").items()}
    folders.decoder(bg, tmp_path, halves)
    llm = bg.llm.load(tmp_path, context=32)
    assert llm.model.blocks[0].mlp.up.weight.format == "F16"
    _check_decoder(llm, {name: x.astype(np.float32) for name, x in halves.items()})
    llm.close()


@needs_sockets
@pytest.mark.parametrize("parts", [1, 2])
def test_a_decoder_at_an_address(bg: Any, served: Any, parts: int) -> None:
    folder, address, asked = served
    weights = tiny.weights("qwen3")
    folders.decoder(bg, folder, weights, parts)
    llm = bg.llm.load(address, context=32)
    _check_decoder(llm, weights)
    llm.close()
    for name in ("config.json", "tokenizer.json", "generation_config.json"):
        assert asked.count(name) == 1
    assert sum(name.endswith(".safetensors") for name in asked) == parts
    # All files are kept, and so are the names of those that there are.
    asked.clear()
    bg.llm.load(address, context=32).close()
    assert asked == []


@needs_sockets
def test_addresses_without_a_model(bg: Any, served: Any) -> None:
    folder, address, _ = served
    with pytest.raises(FileNotFoundError, match=r"config\.json: status 404"):
        bg.llm.load(address)
    folders.decoder(bg, folder, tiny.weights("qwen3"), 2)
    (folder / "model-2-of-2.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"model-2-of-2\.safetensors"):
        bg.llm.load(address)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../b"}}')
    bg.hub.delete(f"{address}model.safetensors.index.json")
    with pytest.raises(ValueError, match="weight_map of files in the folder"):
        bg.llm.load(address)
    with pytest.raises(ValueError, match="without"):
        bg.llm.load(f"{address}?download=1")


def test_an_encoder(bg: Any, tmp_path: Path) -> None:
    weights = tiny.with_biases("bert")
    folders.encoder(bg, tmp_path, weights)
    encoder = bg.llm.load(tmp_path)
    ids = encoder.tokenizer.encode("Hello you")
    found = np.asarray(encoder.embed("Hello you"))[0]
    assert 1 - found @ of_bert(weights, ids, tiny.HEADS, 1e-5) < 1e-6

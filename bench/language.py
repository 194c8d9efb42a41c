"""Speed of language models: tokens a second of decoding, and of prompts.

    python3 bench/language.py model.gguf
    python3 bench/language.py --shape llama-1b --format Q4_0

In a page: the folder of bench/run.py prepare, with the model's file in it, and

    python3 FOLDER/drive.py --out lines.jsonl --addresses "language.html?arguments=model.gguf"

The page language-ort.html measures the same shapes in onnxruntime-web, from its files of
suite/onnx_decoder.py: ``"language-ort.html?model=llama-1b int4&prompt=512"``, or with ``&decode``.
The page language-wllama.html measures a GGUF file of the folder in wllama (llama.cpp in
WebAssembly): ``"language-wllama.html?file=model.gguf"`` on WebGPU, or ``&backend=cpu&threads=8``.
random_gguf.py writes files of these shapes. WebLLM is not measured, since its npm package has no
compiled models.

With ``--shape``, the weights are random bytes in the given format. Each line of output is JSON: the
row, tokens a second, and for products the share of memory that they read. Times include reading the
tokens.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "py"))

import browsergpu as bg

#: Architecture, layers, width, inner, heads, key heads, head width, vocabulary.
SHAPES = {
    "llama-1b": ("llama", 16, 2048, 8192, 32, 8, 64, 128256),
    "qwen3-0.6b": ("qwen3", 28, 1024, 3072, 16, 8, 128, 151936),
    "4b": ("qwen3", 36, 2560, 9728, 32, 8, 128, 151936),
    "smollm2-135m": ("llama", 30, 576, 1536, 9, 3, 64, 49152),
    "tiny": ("llama", 2, 256, 512, 4, 2, 64, 1000),
}


class RandomWeights(Mapping[str, Any]):
    """Random weights by GGUF's names."""

    def __init__(self, shape: str, form: str) -> None:
        kind, layers, width, inner, heads, kv, head, vocabulary = SHAPES[shape]
        self._form, self._random = form, np.random.default_rng(0)
        #: Rows and columns of matrices, and lengths of vectors.
        self.shapes: dict[str, tuple[int, ...]] = {
            "token_embd.weight": (vocabulary, width), "output_norm.weight": (width,),
        }  # fmt: skip
        for n in range(layers):
            own: dict[str, tuple[int, ...]] = {
                "attn_norm": (width,), "attn_q": (heads * head, width),
                "attn_k": (kv * head, width), "attn_v": (kv * head, width),
                "attn_output": (width, heads * head), "ffn_norm": (width,),
                "ffn_gate": (inner, width), "ffn_up": (inner, width), "ffn_down": (width, inner),
            }  # fmt: skip
            if kind == "qwen3":
                own |= {"attn_q_norm": (head,), "attn_k_norm": (head,)}
            self.shapes |= {f"blk.{n}.{name}.weight": one for name, one in own.items()}
        self.metadata = {
            "general.architecture": kind, f"{kind}.block_count": layers,
            f"{kind}.embedding_length": width, f"{kind}.feed_forward_length": inner,
            f"{kind}.attention.head_count": heads, f"{kind}.attention.head_count_kv": kv,
            f"{kind}.attention.key_length": head, f"{kind}.context_length": 4096,
        }  # fmt: skip

    def __getitem__(self, name: str) -> Any:
        shape = self.shapes[name]
        if len(shape) == 1:
            return bg.ones(shape)
        return random_matrix(self._random, shape, self._form)

    def joined(self, names: Sequence[str]) -> Any:
        """A matrix of the rows of several, as ``GGUF.joined``."""
        from browsergpu.functions.language.quantized import joined_rows

        shapes = [self.shapes[name] for name in names]
        parts = [random_bytes(self._random, one, self._form) for one in shapes]
        return joined_rows("bench", parts, shapes, [self._form] * len(shapes), None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)


def random_matrix(random: np.random.Generator, shape: tuple[int, int], form: str) -> Any:
    return bg.llm.QuantizedArray(random_bytes(random, shape, form), shape, form)


def random_bytes(random: np.random.Generator, shape: tuple[int, int], form: str) -> np.ndarray:
    """A matrix of random blocks whose float16 scales are small."""
    from browsergpu.engine.kernels.quantized.formats import FORMATS

    own = FORMATS[form]
    count = shape[0] * shape[1] // own.elements
    data = random.integers(0, 256, (count, own.nbytes), np.uint8)
    scales = {"Q2_K": (80, 82), "Q3_K": (108,), "Q6_K": (208,), "BF16": (), "F16": ()}
    for at in scales.get(form, (0, 2) if form in ("Q4_1", "Q5_1", "Q4_K", "Q5_K") else (0,)):
        data[:, at + 1] = 0x10
    if form in ("F16", "BF16"):
        data[:, 1::2] = data[:, 1::2] & 0x80 | 0x20
    return data.reshape(-1)


def steps_of(weights: Any, metadata: Any, context: int) -> Any:
    from browsergpu.llm.generation.steps import Steps
    from browsergpu.llm.models.architectures import DECODERS
    from browsergpu.llm.models.cache import Cache
    from browsergpu.llm.models.config import config_of
    from browsergpu.llm.models.weights import Weights

    config = config_of(metadata)
    device = bg.default_device()
    model = DECODERS[config.architecture](Weights(weights, device), config, context)
    return Steps(model, Cache(config, context, device))


def _file(name: str) -> Any:
    """A path as it is, and the file at an address."""
    return bg.hub.download(name) if name.startswith("http") else name


def say(row: str, **facts: Any) -> None:
    print(json.dumps({"row": row, **facts}), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", help="a GGUF file")
    parser.add_argument("--shape", choices=SHAPES)
    parser.add_argument("--format", default="Q4_0")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--products", type=int, default=0, help="side of a matrix for products")
    options = parser.parse_args(arguments)
    bg.init()
    from browsergpu.llm.generation.settings import Settings

    if options.products:
        products(options.products, options.format)
    if not options.model and not options.shape:
        return
    if options.model:
        weights: Any = bg.llm.GGUF(_file(options.model))
        name = Path(options.model).stem
    else:
        weights = RandomWeights(options.shape, options.format)
        name = f"{options.shape} {options.format}"
    begin = time.perf_counter()
    context = options.prompt + options.tokens + 16
    steps = steps_of(weights, weights.metadata, context)
    np.asarray(steps.recent)
    say(f"load: {name}", seconds=round(time.perf_counter() - begin, 3))
    settings = Settings(0.0, 0, 1.0, 0.0, 1.0, False)
    prompt = [n % 100 + 5 for n in range(options.prompt)]
    times: list[float] = []
    for _ in range(24):  # kernels are compiled, the second call is captured, and clocks rise
        begin = time.perf_counter()
        steps.start([prompt], [0], settings, 0)
        np.asarray(steps.recent)
        times.append(time.perf_counter() - begin)
    seconds = statistics.median(times[len(times) // 2 :])
    say(f"prompt: {name}", tokens=len(prompt), per_second=round(len(prompt) / seconds, 1))
    for every in (1, 4):
        steps.start([prompt[:16]], [0], settings, 0)
        for _ in range(4):
            steps.step(settings)
        np.asarray(steps.recent)
        begin = time.perf_counter()
        for n in range(options.tokens):
            steps.step(settings)
            if n % every == every - 1:
                np.asarray(steps.recent)
        np.asarray(steps.recent)
        seconds = time.perf_counter() - begin
        say(
            f"decode: {name}", tokens=options.tokens, read_every=every,
            per_second=round(options.tokens / seconds, 1),
        )  # fmt: skip


def products(side: int, form: str) -> None:
    """Time the product of one vector and a matrix, and the bytes of the matrix a second."""
    weight = random_matrix(np.random.default_rng(0), (side, side), form)
    x = bg.ones((1, side))
    with bg.capture() as graph:
        for _ in range(20):
            y = bg.nn.linear(x, weight)
    np.asarray(y)
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(10):
            graph.replay()
        np.asarray(y)
        best = min(best, (time.perf_counter() - begin) / 200)
    rate = weight.nbytes / best / 1e9
    say(f"product: {side}² {form}", us=round(best * 1e6, 2), gigabytes_per_second=round(rate, 1))


if __name__ == "__main__":
    main()

"""Write a GGUF file of random weights in a known model's shape, for llama.cpp and wllama.

    python3 bench/random_gguf.py llama-1b Q4_0 llama-1b-q4_0.gguf       # 697 MB
    python3 FOLDER/random_gguf.py llama-1b Q4_0 FOLDER/llama-1b-q4_0.gguf

The second form runs in a folder of `bench/run.py prepare` and takes browsergpu from the folder's
wheel. Both need Python and NumPy alone. bench/language.py has the shapes and the random weights.
The vocabulary has no text: each byte of a text is one token.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = map(str, Path(__file__).resolve().parent.glob("browsergpu-*.whl"))

import language  # noqa: E402

from browsergpu.engine.kernels.quantized.formats import FORMATS  # noqa: E402
from browsergpu.llm.files.gguf_writer import Encoded, write_encoded  # noqa: E402


def write(file: Any, shape: str, form: str) -> None:
    """Write a file (a path, or a binary file) with all that llama.cpp requires."""
    weights = language.RandomWeights(shape, form)
    random = np.random.default_rng(0)
    tensors = {
        name: Encoded(0, one, np.ones(one, np.float32).tobytes())
        if len(one) == 1
        else Encoded(FORMATS[form].code, one, language.random_bytes(random, one, form).tobytes())
        for name, one in weights.shapes.items()
    }
    write_encoded(file, tensors, weights.metadata | vocabulary(shape))


def vocabulary(shape: str) -> dict[str, Any]:
    """Return the metadata of a vocabulary, and of the norms and rotations of a decoder."""
    kind, *_, head, count = language.SHAPES[shape]
    # llama.cpp's vocabularies of bytes hold each byte's character and at least one merge.
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [chr(256 + n) for n in range(256 - len(visible))]
    tokens = [*map(chr, visible), *hidden, "ab"]
    tokens += [f"<{n}>" for n in range(len(tokens), count)]
    return {
        "general.name": shape,
        f"{kind}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{kind}.attention.value_length": head,
        f"{kind}.rope.dimension_count": head,
        f"{kind}.rope.freq_base": 10000.0,
        f"{kind}.vocab_size": count,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens[:count],
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 1,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shape", choices=language.SHAPES)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("file", type=Path)
    options = parser.parse_args(arguments)
    write(options.file, options.shape, options.format)


if __name__ == "__main__":
    main()

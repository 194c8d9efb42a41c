"""Greedy tokens of a GGUF file by browsergpu and by llama.cpp.

    python3 tools/compare_llama_cpp.py model.gguf

Generates 64 tokens for each of ten prompts with both. The package llama-cpp-python, which CMake and
a C++ compiler build from its source, is installed in an environment in ``.cache`` at the first run.
``--python`` names another Python that has it. llama.cpp rounds activations to 8 bits before it
multiplies them by quantized weights, and browsergpu does not. So where the two largest logits are
close, the tokens can differ. For the first difference of a text, the script prints by how much each
engine prefers its token, and how far the logits of the engines are apart there. ``--float32`` gives
llama.cpp the same weights dequantized, which leaves no such rounding.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent
PROMPTS = [
    "Once upon a time", "The capital of France is", "def fibonacci(n):", "Water boils at",
    "The three laws of robotics are", "Dear Sir or Madam,", "1, 1, 2, 3, 5, 8,",
    "In the beginning", "To make a good soup, first", "The difference between a virus and",
]  # fmt: skip
TOKENS = 64
PACKAGE = "llama-cpp-python==0.3.36"
_ROWS = 8192  # dequantized at once


def theirs(file: str, most: int) -> list[dict[str, Any]]:
    """llama.cpp's tokens of each prompt, and its logits of the last position of each step."""
    import llama_cpp  # type: ignore[import-not-found]

    llm = llama_cpp.Llama(
        file, n_ctx=128, logits_all=True, verbose=False, type_k=0, type_v=0, swa_full=True
    )
    found = []
    for text in PROMPTS:
        prompt = llm.tokenize(text.encode(), special=True)
        llm.reset()
        llm.eval(prompt)
        tokens: list[int] = []
        rows = []
        while len(tokens) < most:
            rows.append(np.array(llm.scores[llm.n_tokens - 1]))
            token = int(rows[-1].argmax())
            if llama_cpp.llama_vocab_is_eog(llm._model.vocab, token):
                break
            tokens.append(token)
            llm.eval([token])
        found.append({"prompt": prompt, "tokens": tokens, "logits": rows})
    return found


def python_with_llama_cpp() -> str:
    """The Python of an environment with the package, which is built at the first call."""
    folder = REPOSITORY / ".cache" / "llama-cpp"
    python, ready = folder / "bin" / "python", folder / PACKAGE
    if not ready.is_file():
        print(f"building {PACKAGE}, which takes minutes", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", PACKAGE], check=True)
        ready.touch()
    return str(python)


def dequantized(source: Any, target: Path) -> None:
    """Write a file with the same weights in float32."""
    import browsergpu as bg

    def floats(x: Any) -> np.ndarray:
        parts = range(0, x.shape[0], _ROWS)
        if not isinstance(x, bg.llm.QuantizedArray):
            return np.asarray(x)
        return np.concatenate(
            [np.asarray(x[np.arange(at, min(at + _ROWS, x.shape[0]))]) for at in parts]
        )

    about = {key: x for key, x in source.metadata.items() if key != "general.file_type"}
    bg.llm.save_gguf(target, {name: floats(x) for name, x in source.items()}, about)


def compared(llm: Any, expected: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The facts of each prompt: whether the tokens are equal, and the first difference."""
    texts = llm.generate(PROMPTS, max_tokens=most)
    facts = []
    for text, own, other in zip(PROMPTS, texts, expected, strict=True):
        prompt = llm.tokenizer.encode(text)
        one: dict[str, Any] = {
            "prompt": text, "same_prompt": prompt == other["prompt"], "tokens": len(own.tokens),
            "equal": own.tokens == other["tokens"],
        }  # fmt: skip
        pairs = zip([*own.tokens, None], [*other["tokens"], None], strict=False)
        at = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
        if not one["equal"] and one["same_prompt"] and at is not None:
            rows = np.asarray(llm.logits([*prompt, *own.tokens[:at]]))[-1], other["logits"][at]
            a, b = (int(row.argmax()) for row in rows)
            one |= {
                "at": at, "own_gap": float(rows[0][a] - rows[0][b]),
                "their_gap": float(rows[1][b] - rows[1][a]),
                "logits_apart": float(np.abs(rows[0] - rows[1]).max()),
                "largest_logit": float(np.abs(rows[0]).max()),
            }  # fmt: skip
        facts.append(one)
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("--python", help="a Python that has llama-cpp-python")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--float32", action="store_true", help="dequantize for llama.cpp")
    parser.add_argument("--theirs", help=argparse.SUPPRESS)  # where llama.cpp's results go
    options = parser.parse_args()
    if options.theirs:
        found = theirs(options.model, options.tokens)
        arrays: dict[str, Any] = {
            str(n): np.array(one.pop("logits")) for n, one in enumerate(found)
        }
        np.savez(options.theirs, about=np.array(json.dumps(found)), **arrays)
        return
    sys.path.insert(0, str(REPOSITORY / "py"))
    import browsergpu as bg

    python = options.python or python_with_llama_cpp()
    bg.init()
    with tempfile.TemporaryDirectory() as folder:
        file, out = options.model, Path(folder) / "theirs.npz"
        if options.float32:
            file = str(Path(folder) / "float32.gguf")
            dequantized(bg.llm.GGUF(options.model), Path(file))
        own = [python, __file__, file, "--theirs", str(out), "--tokens", str(options.tokens)]
        subprocess.run(own, check=True)
        with np.load(out) as arrays:
            expected = json.loads(str(arrays["about"]))
            for n, one in enumerate(expected):
                one["logits"] = arrays[str(n)]
    llm = bg.llm.load(options.model, context=128)
    facts = compared(llm, expected, options.tokens)
    for one in facts:
        print(json.dumps(one))
    print(f"{sum(one['equal'] for one in facts)} of {len(facts)} texts are equal")


if __name__ == "__main__":
    main()

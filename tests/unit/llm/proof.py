"""Real weights beside NumPy: ``proof.py text FILE PROMPT`` or ``proof.py vectors FOLDER``.

``proof.py adapters FILE`` trains adapters for a few steps, and generates JSON of a schema.

``text`` generates 64 greedy tokens for one of ten prompts. The reference computes all their logits
at once: if its largest logit at every position is the next token, its own greedy text is the same.
Prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / "py"), str(REPOSITORY / "tests" / "browser")]

from inside.llm.reference import Decoder, of_bert  # noqa: E402

import browsergpu as bg  # noqa: E402

PROMPTS = [
    "Once upon a time", "The capital of France is", "def fibonacci(n):", "Water boils at",
    "The three laws of robotics are", "Dear Sir or Madam,", "1, 1, 2, 3, 5, 8,",
    "In the beginning", "To make a good soup, first", "The difference between a virus and",
]  # fmt: skip
TOKENS = 64


def floats(x: Any) -> np.ndarray:
    """A weight as float32. Large ones are read in parts."""
    if not isinstance(x, bg.llm.QuantizedArray):
        return np.asarray(x)
    rows = range(0, x.shape[0], 8192)
    return np.concatenate([np.asarray(x[np.arange(at, min(at + 8192, x.shape[0]))]) for at in rows])


def text(file: str, number: int) -> dict[str, Any]:
    source = bg.llm.GGUF(file)
    llm = bg.llm.load(source, context=256)
    tokens = llm.tokenizer.encode(PROMPTS[number])
    found = llm.generate(PROMPTS[number], max_tokens=TOKENS)
    everything = tokens + found.tokens
    own = np.asarray(llm.logits(everything))
    weights = {name: floats(x) for name, x in source.items()}
    expected = Decoder(weights, source.metadata).logits(everything)
    worst = float(np.abs(own - expected).max() / np.abs(expected).max())
    chosen = expected[len(tokens) - 1 : len(everything) - 1].argmax(-1)
    is_equal = chosen.tolist() == found.tokens
    return {"worst": worst, "is_equal": is_equal, "text": found, "tokens": len(found.tokens)}


def vectors(folder: str) -> dict[str, Any]:
    from browsergpu.llm.files.folder import ModelFolder

    encoder = bg.llm.load(folder)
    weights = {name: floats(x) for name, x in ModelFolder(folder).items()}
    texts = ["A cat sits on the mat.", "Stock markets fell.", "Ein Satz auf Deutsch!", "x" * 900]
    found = np.asarray(encoder.embed(texts))
    worst = 0.0
    for vector, one in zip(found, texts, strict=True):
        ids = encoder.tokenizer.encode(one)
        worst = max(worst, 1 - float(vector @ of_bert(weights, ids, 12, 1e-12)))
    return {"worst": worst}


def adapters(file: str) -> dict[str, Any]:
    llm = bg.llm.load(file, context=64)
    schema = {
        "type": "object", "properties": {"capital": {"type": "string", "maxLength": 8}},
        "required": ["capital"],
    }  # fmt: skip
    own = bg.llm.lora(llm, rank=4, alpha=8, seed=0)
    optimizer = bg.optim.Adam(own.parameters(), lr=0.01)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = own.loss(" Arr, matey!", prompt="Hello")
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    own.remove()
    answer = llm.generate("The capital of France as JSON: ", max_tokens=12, json_schema=schema)
    return {"losses": losses, "answer": answer, "finish_reason": answer.finish_reason}


if __name__ == "__main__":
    bg.init()
    kind, path = sys.argv[1:3]
    one = {"adapters": adapters, "vectors": vectors}
    done = text(path, int(sys.argv[3])) if kind == "text" else one[kind](path)
    print(json.dumps(done))

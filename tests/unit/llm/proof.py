"""Real weights beside NumPy: ``proof.py text FILE [PROMPT ...]`` or ``proof.py vectors FOLDER``.

``proof.py adapters FILE`` trains adapters for a few steps, and generates JSON of a schema.

``text`` generates 64 greedy tokens for each of ten prompts, or for those with the given numbers.
The reference computes all their logits at once: if its largest logit at every position is the next
token, its own greedy text is the same. Prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / name) for name in ("py", "tools", "tests/browser")]

from inside.llm.reference import Decoder, of_bert  # noqa: E402

import browsergpu as bg  # noqa: E402
from compare_llama_cpp import PROMPTS, TOKENS  # noqa: E402


def floats(x: Any) -> np.ndarray:
    """A weight as float32. Large ones are read in parts."""
    if not isinstance(x, bg.llm.QuantizedArray):
        return np.asarray(x)
    rows = range(0, x.shape[0], 8192)
    return np.concatenate([np.asarray(x[np.arange(at, min(at + 8192, x.shape[0]))]) for at in rows])


def text(file: str, numbers: list[int]) -> list[dict[str, Any]]:
    """The facts of each prompt: the largest error of a logit, and the tokens that differ."""
    source = bg.llm.GGUF(file)
    llm = bg.llm.load(source, context=128)
    texts = [llm.generate(PROMPTS[one], max_tokens=TOKENS) for one in numbers]
    prompts = [llm.tokenizer.encode(PROMPTS[one]) for one in numbers]
    logits = [
        np.asarray(llm.logits(prompt + found.tokens))
        for prompt, found in zip(prompts, texts, strict=True)
    ]
    ends = llm._ends
    llm.close()
    reference = Decoder({name: floats(x) for name, x in source.items()}, source.metadata)
    facts = []
    for prompt, found, own in zip(prompts, texts, logits, strict=True):
        expected = reference.logits(prompt + found.tokens)
        scale = float(np.abs(expected).max())
        after = expected[len(prompt) - 1 :]
        if found.finish_reason == "length":
            after = after[:-1]
        chosen = after.argmax(-1).tolist()
        tokens = list(found.tokens)
        if found.finish_reason == "stop" and chosen[-1] in ends:
            tokens.append(chosen[-1])
        # How far the reference's logit of our token is below its largest one.
        differences = [
            float(row[best] - row[token]) / scale
            for row, best, token in zip(after, chosen, tokens, strict=True)
            if best != token
        ]
        facts.append({
            "prompt": llm.tokenizer.decode(prompt), "text": found, "tokens": len(found.tokens),
            "worst": float(np.abs(own - expected).max()) / scale, "differences": differences,
        })  # fmt: skip
        print(json.dumps(facts[-1]), file=sys.stderr, flush=True)
    return facts


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
    if kind == "text":
        done: Any = text(path, [int(one) for one in sys.argv[3:]] or list(range(len(PROMPTS))))
    else:
        done = {"adapters": adapters, "vectors": vectors}[kind](path)
    print(json.dumps(done))

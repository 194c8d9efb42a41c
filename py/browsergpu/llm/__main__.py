"""``python -m browsergpu.llm model.gguf``: a chat in the terminal, or an HTTP server."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from browsergpu.arrays.context import init
from browsergpu.engine.core.errors import BackendError
from browsergpu.llm.language_model import LanguageModel
from browsergpu.llm.loading import load
from browsergpu.llm.models.cache import DTYPES
from browsergpu.llm.serving.server import Server


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m browsergpu.llm", description=__doc__)
    parser.add_argument("model", help="a GGUF file, or a folder with safetensors")
    parser.add_argument("--context", type=int, help="tokens of prompt and text")
    parser.add_argument("--cache-dtype", choices=DTYPES, default=DTYPES[0])
    parser.add_argument("--system", help="the system message of the chat")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--min-p", type=float, default=0.05)
    parser.add_argument("--repetition-penalty", type=float, default=1.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--serve", action="store_true", help="serve the OpenAI HTTP interface")
    parser.add_argument("--host", default="127.0.0.1", help="of the server")
    parser.add_argument("--port", type=int, default=8080, help="of the server, 0 for a free one")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Run the command. Returns the exit status."""
    options = _arguments(given)
    try:
        init()
        llm = load(
            options.model, context=options.context, cache_dtype=options.cache_dtype, progress=True
        )
    except (BackendError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.serve:
        return _serve(llm, options)
    if not isinstance(llm, LanguageModel):
        print("The model is an encoder, which cannot chat. Use --serve.", file=sys.stderr)
        return 1
    return _chat(llm, options)


def _serve(llm: Any, options: argparse.Namespace) -> int:
    with Server(llm, Path(options.model).stem, options.host, options.port) as server:
        print(f"http://{options.host}:{server.server_address[1]}/v1", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


def _chat(llm: LanguageModel, options: argparse.Namespace) -> int:
    print("Type a message. /new begins another chat, and /quit ends.")
    first = [{"role": "system", "content": options.system}] if options.system else []
    messages = list(first)
    while True:
        try:
            text = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return 0
        if text == "/quit":
            return 0
        if text == "/new":
            messages = list(first)
            continue
        if not text:
            continue
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": _answer(llm, messages, options)})


def _answer(llm: LanguageModel, messages: list[dict[str, str]], options: argparse.Namespace) -> str:
    """Print an answer as it is computed. An interrupt ends it."""
    begin = time.perf_counter()
    parts: list[str] = []
    request = None
    try:
        request, pieces = llm.begin(
            "chat", messages, max_tokens=options.max_tokens, temperature=options.temperature,
            top_k=options.top_k, top_p=options.top_p, min_p=options.min_p,
            repetition_penalty=options.repetition_penalty, seed=options.seed,
        )  # fmt: skip
        for piece in pieces:
            print(piece, end="", flush=True)
            parts.append(piece)
    except KeyboardInterrupt:
        pass
    except BackendError as error:
        print(error, file=sys.stderr)
    count = 0 if request is None else len(request.tokens)
    seconds = time.perf_counter() - begin
    print(f"\n[{count} tokens, {count / max(seconds, 1e-9):.1f} tokens/s]")
    return "".join(parts)


if __name__ == "__main__":
    sys.exit(main())

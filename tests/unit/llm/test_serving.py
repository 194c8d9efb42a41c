"""The HTTP interface with a tiny model on Dawn, through http.client and the package openai."""

from __future__ import annotations

import base64
import http.client
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np
import pytest

INSIDE = Path(__file__).resolve().parents[2] / "browser"
REPOSITORY = INSIDE.parents[1]
_MAKE = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import browsergpu as bg
from inside.llm import tiny
bg.llm.save_gguf(sys.argv[3], tiny.weights("llama"), tiny.metadata("llama"))
"""


def _environment() -> dict[str, str]:
    own = os.environ | {"PYTHONPATH": str(REPOSITORY / "py"), "BROWSERGPU_ENGINE": "dawn"}
    icd = "/usr/lib/chromium/vk_swiftshader_icd.json"
    return own | {"VK_ICD_FILENAMES": icd} if Path(icd).exists() else own


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A server's host and port."""
    file = tmp_path_factory.mktemp("model") / "tiny.gguf"
    arguments = [str(INSIDE), str(REPOSITORY / "py"), str(file)]
    with Popen([sys.executable, "-c", _MAKE, *arguments], env=_environment()) as made:
        assert made.wait(60) == 0
    command = [sys.executable, "-m", "browsergpu.llm", str(file), "--serve", "--port", "0"]
    with Popen(command, env=_environment(), stdout=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            assert line.startswith("http://127.0.0.1:"), line
            yield "127.0.0.1", int(line.split(":")[2].split("/")[0])
        finally:
            process.kill()


def post(address: tuple[str, int], path: str, body: Any) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(*address, timeout=120)
    data = body if isinstance(body, bytes) else json.dumps(body)
    connection.request("POST", path, data, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    is_stream = "event-stream" in answer.headers["Content-Type"]
    return answer.status, text if is_stream else json.loads(text)


MESSAGES = [{"role": "user", "content": "hello"}]


def test_chats_and_texts(address: tuple[str, int]) -> None:
    body = {"messages": MESSAGES, "temperature": 0, "max_tokens": 5, "model": "any"}
    status, found = post(address, "/v1/chat/completions", body)
    assert status == 200, found
    choice = found["choices"][0]
    assert choice["message"]["role"] == "assistant"
    assert found["usage"]["completion_tokens"] <= 5
    text = choice["message"]["content"]
    _, streamed = post(address, "/v1/chat/completions", body | {"stream": True})
    events = [line[6:] for line in streamed.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    deltas = [json.loads(one)["choices"][0] for one in events[:-1]]
    assert "".join(one["delta"].get("content", "") for one in deltas) == text
    assert deltas[-1]["finish_reason"] in ("stop", "length")
    status, found = post(
        address, "/v1/completions",
        {"prompt": "the", "max_tokens": 3, "temperature": 0, "logprobs": 1},
    )  # fmt: skip
    assert status == 200
    assert len(found["choices"][0]["logprobs"]["token_logprobs"]) <= 3


def test_several_prompts(address: tuple[str, int]) -> None:
    """One choice for each, as a request for each has."""
    options = {"max_tokens": 4, "temperature": 0}
    prompts: list[Any] = ["the hello", "in", [20, 33, 250]]
    alone = [post(address, "/v1/completions", options | {"prompt": one})[1] for one in prompts]
    status, found = post(address, "/v1/completions", options | {"prompt": prompts})
    assert status == 200, found
    assert [one["index"] for one in found["choices"]] == [0, 1, 2]
    assert [one["text"] for one in found["choices"]] == [one["choices"][0]["text"] for one in alone]
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        assert found["usage"][name] == sum(one["usage"][name] for one in alone)
    body = options | {"prompt": prompts, "stream": True}
    status, found = post(address, "/v1/completions", body)
    assert status == 400
    assert "one prompt, got a list of 3 prompts" in found["error"]["message"]


def test_json_of_a_schema(address: tuple[str, int]) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": [12, 345]}}}
    body = {"messages": MESSAGES, "temperature": 0, "response_format": form}
    status, found = post(address, "/v1/chat/completions", body)
    assert status == 200, found
    assert found["choices"][0]["message"]["content"] in ("12", "345")
    assert found["choices"][0]["finish_reason"] == "stop"


def test_embeddings(address: tuple[str, int]) -> None:
    status, found = post(address, "/v1/embeddings", {"input": ["a", "hello"], "model": "m"})
    assert status == 200
    vectors = np.array([one["embedding"] for one in found["data"]])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    _, packed = post(
        address, "/v1/embeddings", {"input": "hello", "model": "m", "encoding_format": "base64"}
    )
    own = np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), "<f4")
    assert np.allclose(own, vectors[1], atol=1e-6)


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ({}, "messages must be given"),
        ({"messages": []}, "a list of messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "text"),
        ({"messages": MESSAGES, "n": 2}, "n must be 1"),
        ({"messages": MESSAGES, "tools": [{}]}, "tools must be"),
        ({"messages": MESSAGES, "temperature": 1000}, "temperature must be"),
        ({"messages": MESSAGES, "response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": MESSAGES, "speed": 1}, "speed must be left out"),
        ({"messages": MESSAGES, "stream": True, "top_p": 5}, "top_p must be"),
        ({"messages": MESSAGES, "stream": "no"}, "stream must be true or false"),
        ({"messages": MESSAGES, "stream": True, "logprobs": True}, "left out with stream"),
        ({"messages": MESSAGES, "stream": True, "stream_options": {"x": 1}}, "include_usage"),
        ({"messages": MESSAGES, "max_tokens": 5, "max_completion_tokens": 7}, "left out, or 7"),
        ({"messages": MESSAGES, "max_tokens": 0}, "max_tokens must be"),
        (b"{" * 100000, "nested deeper"),
        (b"{", "Expecting"),
    ],
)  # fmt: skip
def test_bad_requests(address: tuple[str, int], body: Any, match: str) -> None:
    status, found = post(address, "/v1/chat/completions", body)
    assert status == 400
    assert match in found["error"]["message"]


def test_other_paths(address: tuple[str, int]) -> None:
    assert post(address, "/v1/other", {})[0] == 404
    connection = http.client.HTTPConnection(*address, timeout=60)
    connection.request("GET", "/v1/models")
    assert json.loads(connection.getresponse().read())["data"][0]["id"] == "tiny"
    connection.close()

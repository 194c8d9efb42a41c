"""Requests of the OpenAI interface: their fields, checked, and the answers' objects."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.llm.generation.text import Generation
from browsergpu.llm.tokens.tokenizer import Tokenizer

_DEFAULT_TOKENS = 256
#: Fields that generate() takes under the same name. The last three are not OpenAI's.
_SAME = ("temperature", "top_p", "seed", "stop", "top_k", "min_p", "repetition_penalty")
#: Fields that change nothing if they have one of these values.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "n": (1,), "best_of": (1,), "echo": (False,), "suffix": (None, ""), "logit_bias": (None, {}),
    "presence_penalty": (0,), "frequency_penalty": (0,), "tools": (None, []),
    "tool_choice": (None, "none", "auto"),
    "top_logprobs": (None, 0), "parallel_tool_calls": (None, True, False), "store": (None, False),
    "reasoning_effort": (None,), "modalities": (None, ["text"]), "audio": (None,),
}  # fmt: skip
#: Fields that are about the client.
_IGNORED = ("model", "user", "metadata", "service_tier", "safety_identifier", "prompt_cache_key")


class Parsed(NamedTuple):
    """A request for text."""

    prompt: Any
    options: dict[str, Any]
    is_stream: bool
    is_chat: bool
    with_usage: bool


def parsed(body: Any, *, is_chat: bool) -> Parsed:
    """Return a request. Raises InvalidArgument for fields without effect and wrong values."""
    op = "chat.completions" if is_chat else "completions"
    if not isinstance(body, dict):
        raise InvalidArgument(op, "body", body, "a JSON object")
    left = dict(body)
    for name in _IGNORED:
        left.pop(name, None)
    prompt = left.pop("messages" if is_chat else "prompt", None)
    if prompt is None:
        raise InvalidArgument(op, "messages" if is_chat else "prompt", Description("none"), "given")
    options: dict[str, Any] = {"temperature": 1.0}
    for name in _SAME:
        value = left.pop(name, None)
        if value is not None:
            options[name] = value
    options |= _constraint(op, left.pop("response_format", None))
    most = left.pop("max_completion_tokens", None)
    also = left.pop("max_tokens", None)
    if None not in (most, also) and most != also:
        raise InvalidArgument(op, "max_tokens", also, f"left out, or {most}")
    given = most if also is None else also
    options["max_tokens"] = _DEFAULT_TOKENS if given is None else given
    logprobs = left.pop("logprobs", None)
    if logprobs not in (None, False, True, 0, 1):
        raise InvalidArgument(op, "logprobs", logprobs, "true or false, as only chosen tokens have")
    # Of completions, 0 asks for the chosen tokens alone.
    options["logprobs"] = bool(logprobs) or (logprobs == 0 and type(logprobs) is int)
    is_stream = _flag(op, "stream", left.pop("stream", None))
    if is_stream and options["logprobs"]:
        raise InvalidArgument(op, "logprobs", logprobs, "left out with stream")
    usage = left.pop("stream_options", None) or {}
    if not isinstance(usage, dict) or usage.keys() - {"include_usage"}:
        raise InvalidArgument(op, "stream_options", usage, "include_usage alone")
    for name, neutral in _NEUTRAL.items():
        if name in left and left.pop(name) not in neutral:
            raise InvalidArgument(op, name, body[name], f"{neutral[0]!r}. Leave it out.")
    if left:
        name = next(iter(left))
        raise InvalidArgument(op, name, left[name], "left out, as it is not supported")
    return Parsed(
        _messages(op, prompt) if is_chat else prompt, options, is_stream, is_chat,
        _flag(op, "include_usage", usage.get("include_usage")),
    )  # fmt: skip


def _flag(op: str, name: str, value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise InvalidArgument(op, name, value, "true or false")
    return bool(value)


def _constraint(op: str, given: Any) -> dict[str, Any]:
    """Return the option for a response_format."""
    if given in (None, {"type": "text"}):
        return {}
    own = given.get("json_schema") if isinstance(given, dict) else None
    if not isinstance(own, dict) or given.get("type") != "json_schema" or "schema" not in own:
        expected = 'of the type "text" or "json_schema", with a schema'
        raise InvalidArgument(op, "response_format", given, expected)
    return {"json_schema": own["schema"]}


def _messages(op: str, messages: Any) -> list[dict[str, Any]]:
    """Return messages whose content is text. Parts of text are joined."""
    if not isinstance(messages, list) or not messages:
        raise InvalidArgument(op, "messages", messages, "a list of messages")
    found = []
    for one in messages:
        if not isinstance(one, dict):
            raise InvalidArgument(op, "messages", one, "objects with role and content")
        content = one.get("content")
        if isinstance(content, list):
            if any(not isinstance(x, dict) or x.get("type") != "text" for x in content):
                raise InvalidArgument(op, "content", content, "text")
            content = "".join([str(x.get("text", "")) for x in content])
        found.append({**one, "content": content})
    return found


class Answer:
    """The objects of one answer.

    Parameters
    ----------
    request : Parsed
        The request.
    model : str
        The name of the model.
    """

    def __init__(self, request: Parsed, model: str) -> None:
        self._is_chat = request.is_chat
        self._name = "chat.completion" if request.is_chat else "text_completion"
        begin = "chatcmpl" if request.is_chat else "cmpl"
        self._id, self._created, self._model = f"{begin}-{token_hex(12)}", int(time.time()), model

    def __repr__(self) -> str:
        return f"<Answer {self._id}>"

    def whole(self, texts: Sequence[Generation], tokenizer: Tokenizer) -> dict[str, Any]:
        """Return the answer of a request that is not streamed, with a choice for each prompt."""
        choices = [self._choice(n, text, tokenizer) for n, text in enumerate(texts)]
        return {**self._head(self._name), "choices": choices, "usage": usage_of(texts)}

    def _choice(self, index: int, text: Generation, tokenizer: Tokenizer) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": index, "finish_reason": text.finish_reason}
        if self._is_chat:
            choice["message"] = {"role": "assistant", "content": str(text), "refusal": None}
        else:
            choice["text"] = str(text)
        tokens = [tokenizer.decode([one]) for one in text.tokens]
        choice["logprobs"] = self._logprobs(text, tokens)
        return choice

    def _logprobs(self, text: Generation, tokens: list[str]) -> dict[str, Any] | None:
        if text.logprobs is None:
            return None
        if not self._is_chat:
            return {"tokens": tokens, "token_logprobs": text.logprobs, "top_logprobs": None,
                    "text_offset": None}  # fmt: skip
        return {
            "content": [
                {"token": token, "logprob": value, "bytes": list(token.encode()),
                 "top_logprobs": []}
                for token, value in zip(tokens, text.logprobs, strict=True)
            ],
            "refusal": None,
        }  # fmt: skip

    def piece(self, text: str, finish_reason: str | None = None) -> dict[str, Any]:
        """Return a piece of a streamed answer."""
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish_reason, "logprobs": None}
        if self._is_chat:
            choice["delta"] = {"role": "assistant", "content": text} if text else {}
        else:
            choice["text"] = text
        name = "chat.completion.chunk" if self._is_chat else self._name
        return {**self._head(name), "choices": [choice]}

    def usage(self, usage: Mapping[str, Any]) -> dict[str, Any]:
        """Return the last object of a stream, with the number of tokens."""
        name = "chat.completion.chunk" if self._is_chat else self._name
        return {**self._head(name), "choices": [], "usage": usage}

    def _head(self, name: str) -> dict[str, Any]:
        return {"id": self._id, "object": name, "created": self._created, "model": self._model}


def usage_of(texts: Sequence[Generation]) -> dict[str, Any]:
    """Return the numbers of tokens of all texts."""
    prompts = sum(one.prompt_tokens for one in texts)
    written = sum(len(one.tokens) for one in texts)
    return {
        "prompt_tokens": prompts,
        "completion_tokens": written,
        "total_tokens": prompts + written,
        "prompt_tokens_details": {"cached_tokens": sum(one.cached_tokens for one in texts)},
    }

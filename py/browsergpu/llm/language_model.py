"""Language models with their tokenizer: text, chats and embeddings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.compiled.guards import versions_of
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NotInitialized, Unsupported
from browsergpu.engine.core.showing import Description, Shown, byte_count
from browsergpu.functions import manipulation
from browsergpu.functions.nn import normalization
from browsergpu.llm.constraints.guide import Guide, TokenBytes
from browsergpu.llm.constraints.pattern import parsed
from browsergpu.llm.constraints.schema import pattern_of
from browsergpu.llm.generation.batch import Batch, check_single, is_batch
from browsergpu.llm.generation.settings import settings_of, stops_of
from browsergpu.llm.generation.steps import Steps
from browsergpu.llm.generation.text import (
    CachedSequence,
    Generation,
    Request,
    finished,
    pieces,
    pieces_async,
)
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.pooling import mean_of
from browsergpu.llm.tokens.groups import groups, padded
from browsergpu.llm.tokens.templates import ChatTemplate, check_messages
from browsergpu.llm.tokens.tokenizer import Tokenizer

#: Tokens that end an answer, beside the file's.
_ENDS = ("<|im_end|>", "<end_of_turn>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "</s>")

#: The most tokens of texts that are embedded at once, unless one text has more.
_EMBEDDED = 512


class LanguageModel(Shown):
    """A decoder with its tokenizer. :func:`load` makes it.

    Attributes
    ----------
    config : Config
        Sizes and options.
    tokenizer : Tokenizer
        The tokenizer.
    model : Module
        The network.
    context : int
        The most tokens of a prompt and its text.
    """

    def __init__(
        self, model: Any, config: Config, tokenizer: Tokenizer, context: int, device: Any,
        template: str | None, ends: Sequence[int], variables: Mapping[str, Any],
        cache_dtype: str = "float32",
    ) -> None:  # fmt: skip
        self.model, self.config, self.tokenizer, self.context = model, config, tokenizer, context
        self._cache = Cache(config, context, device, cache_dtype)
        self._steps = Steps(model, self._cache)
        self._sequence = CachedSequence(self._steps, context)
        self._template, self._variables = template, variables
        self._compiled: ChatTemplate | None = None
        self._token_bytes: TokenBytes | None = None
        self._adapters: Any = None
        self._states: list[Any] = []
        #: The device of the model.
        self.device = device
        self._is_closed = False
        known = [tokenizer.id_of(one) for one in _ENDS]
        self._ends = frozenset([*ends, *(one for one in known if one is not None)])

    def _facts(self) -> str:
        kind = f"{self.config.architecture} with {self.config.layers} layers"
        if self._is_closed:
            return f"{kind}, closed"
        memory = f"{byte_count(self._cache.nbytes)} in {self._cache.dtype}"
        return f"{kind}, context {self.context}, cache {memory}"

    def check_open(self, op: str) -> None:
        """Raise NotInitialized if the model is closed."""
        if self._is_closed:
            raise NotInitialized(op, "The model is closed. Load it again.")

    def adapt(self, adapters: Any) -> None:
        """Note the adapters of the network, or None. :func:`browsergpu.llm.lora` calls it."""
        if adapters is not None and self._adapters is not None:
            given = Description("a model with adapters")
            raise InvalidArgument("llm.lora", "model", given, "without adapters. Call remove().")
        self._adapters = adapters
        self._forget()

    def _follow(self) -> None:
        """Forget cached states and captured work if adapters have changed since."""
        if self._adapters is None:
            return
        states = versions_of(list(self._adapters.parameters()))
        if states != self._states:
            self._forget()
            self._states = states

    def _forget(self) -> None:
        self._states = []
        self._sequence.close()

    def generate(
        self, prompt: Any, max_tokens: int = 256, temperature: float = 0.0, top_k: int = 0,
        top_p: float = 1.0, min_p: float = 0.0, repetition_penalty: float = 1.0,
        seed: int | None = None, stop: Any = None, logprobs: bool = False,
        regex: str | None = None, json_schema: Mapping[str, Any] | None = None,
    ) -> Any:  # fmt: skip
        """Return the text after a prompt, or the texts after several prompts. Blocks.

        Parameters
        ----------
        prompt : str, list of int, list of dict, or list of these
            A text, its tokens, or messages of a chat. A list of prompts is computed at once, with
            one step for the next tokens of all texts, in a cache of its own.
        max_tokens : int
            The most tokens of each text.
        temperature : float
            0 selects the most probable token. Larger numbers select more random ones.
        top_k : int
            Only the k most probable tokens are selected, unless 0.
        top_p : float
            Only the most probable tokens whose probabilities add up to p are selected.
        min_p : float
            Only tokens of at least this share of the largest probability are selected.
        repetition_penalty : float
            Divides positive logits of tokens in the prompt and the text so far, and multiplies
            negative ones.
        seed : int, optional
            Of the random numbers. Random by default. The texts of a list have different numbers,
            so they differ from those that a call for each prompt would return.
        stop : str or list of str, optional
            Texts at which the text ends. They are left out.
        logprobs : bool
            Whether the result has log probabilities. They are those of all tokens, also with a
            constraint.
        regex : str, optional
            A regular expression of Python's ``re`` that the whole text matches, unless
            ``finish_reason`` is "length". Without assertions and references to groups.
        json_schema : dict, optional
            A JSON schema. The text is JSON that is valid under it, unless ``finish_reason`` is
            "length". Properties have the schema's order.

        Returns
        -------
        Generation or list of Generation
            A string with the attributes ``tokens``, ``logprobs``, ``finish_reason``,
            ``prompt_tokens`` and ``cached_tokens``. For a list of prompts, a list in its order.

        Raises
        ------
        InvalidArgument
            If an argument is out of range, or the prompt is longer than the context.
        """
        op = "generate"
        options = (
            max_tokens, temperature, top_k, top_p, min_p, repetition_penalty, seed, stop, logprobs,
            regex, json_schema,
        )  # fmt: skip
        if is_batch(prompt):
            batch = self._batch(self._requests(op, prompt, *options))
            for _ in pieces(op, batch.work(self.tokenizer)):
                pass
            return batch.finished()
        (request,) = self._requests(op, [prompt], *options)
        work = self._sequence.work(request, self.tokenizer)
        return finished(request, "".join(pieces(op, work)))

    async def generate_async(self, prompt: Any, **options: Any) -> Any:
        """Return the text after a prompt, as :meth:`generate`, without blocking."""
        op = "generate_async"
        if is_batch(prompt):
            batch = self._batch(self._requests(op, prompt, **options))
            async for _ in pieces_async(batch.work(self.tokenizer)):
                pass
            return batch.finished()
        (request,) = self._requests(op, [prompt], **options)
        work = self._sequence.work(request, self.tokenizer)
        return finished(request, "".join([one async for one in pieces_async(work)]))

    def _batch(self, requests: Sequence[Request]) -> Batch:
        """Return the work for several requests."""
        return Batch(self.model, self._cache_of, requests, self.context)

    def _cache_of(self, capacity: int, *, sequences: int) -> Cache:
        """Return a cache for other sequences."""
        return Cache(self.config, capacity, self.device, self._cache.dtype, sequences)

    def stream(self, prompt: Any, **options: Any) -> Iterator[str]:
        """Yield the text after a prompt in pieces, as they are computed. Blocks at each.

        The arguments are those of :meth:`generate`, with one prompt.
        """
        return self.begin("stream", prompt, **options)[1]

    def begin(self, op: str, prompt: Any, **options: Any) -> tuple[Request, Iterator[str]]:
        """Return a request, whose facts grow, and its text in pieces. ``op`` is for errors."""
        check_single(op, prompt)
        (request,) = self._requests(op, [prompt], **options)
        return request, pieces(op, self._sequence.work(request, self.tokenizer))

    def stream_async(self, prompt: Any, **options: Any) -> AsyncIterator[str]:
        """Yield the text after a prompt in pieces, as :meth:`stream`, without blocking."""
        check_single("stream_async", prompt)
        (request,) = self._requests("stream_async", [prompt], **options)
        return pieces_async(self._sequence.work(request, self.tokenizer))

    def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Generation:
        """Return the answer to messages. Blocks.

        Parameters
        ----------
        messages : sequence of dict
            The chat so far, each with ``role`` (system, user or assistant) and ``content``.
        **options
            As :meth:`generate` takes them.

        Returns
        -------
        Generation
            The answer.
        """
        check_messages("chat", messages)
        return self.generate(list(messages), **options)  # type: ignore[no-any-return]

    async def chat_async(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Generation:
        """Return the answer to messages, as :meth:`chat`, without blocking."""
        check_messages("chat_async", messages)
        return await self.generate_async(list(messages), **options)  # type: ignore[no-any-return]

    def prompt_of(self, messages: Sequence[Mapping[str, Any]], **variables: Any) -> str:
        """Return the text of a chat by the model's template, up to the answer.

        Parameters
        ----------
        messages : sequence of dict
            The chat.
        **variables
            Variables of the template, such as ``enable_thinking``.
        """
        if self._compiled is None:
            if self._template is None:
                raise Unsupported("chat", "The model's file has no chat template. Use generate().")
            self._compiled = ChatTemplate(self._template, self._variables)
        return self._compiled.render(messages, **variables)

    def embed(self, texts: Any) -> Array:
        """Return vectors of length 1 for texts, float32 of shape [texts, width].

        A vector is the mean of the last states of a text's tokens, divided by its norm. Texts of
        similar lengths are computed at once, in a cache of their own.
        """
        op = "embed"
        own = [texts] if isinstance(texts, str) else texts
        if not isinstance(own, list | tuple) or not own:
            raise InvalidType(op, "texts", texts, "a string or a list of strings")
        tokens = [self._whole(op, "texts", one) for one in own]
        vectors: dict[int, Array] = {}
        with no_grad():
            for group in groups([len(one) for one in tokens], _EMBEDDED):
                found = self._vectors([tokens[n] for n in group])
                vectors |= {n: found[at] for at, n in enumerate(group)}
        return manipulation.stack([vectors[n] for n in range(len(own))])

    async def embed_async(self, texts: Any) -> Array:
        """Return vectors for texts, as :meth:`embed`. The values can be awaited."""
        return self.embed(texts)

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Array:
        """Return vectors [texts, width] of tokens."""
        lengths = np.array([len(one) for one in texts])
        longest = int(lengths.max())
        cache = self._cache_of(longest, sequences=len(texts))
        states = self.model(self._steps.array(padded(texts, longest).reshape(-1)), cache)
        shaped = states.reshape((len(texts), longest, states.shape[1]))
        return normalization.normalize(mean_of(shaped, lengths), dim=-1)

    def logits(self, tokens: Sequence[int]) -> Array:
        """Return the logits after each token, float32 of shape [T, vocabulary]."""
        own = self._steps.array(self._whole("logits", "tokens", list(tokens)))
        self._begin()
        with no_grad():
            return self.model.logits(self.model(own, self._cache))  # type: ignore[no-any-return]

    def attention(self, prompt: Any, layer: int) -> Array:
        """Return how much the tokens of a prompt attend to each other in a layer.

        Parameters
        ----------
        prompt : str, list of int or list of dict
            A text, its tokens, or messages of a chat.
        layer : int
            The number of the layer, from 0 on.

        Returns
        -------
        Array
            Shape [heads, T, T], float32. Row t of a head has the shares of token t, which add up to
            1. Shares of later tokens are 0.
        """
        op = "attention"
        own = self._steps.array(self._whole(op, "prompt", prompt))
        most = self.config.layers - 1
        number = checks.integer(op, "layer", layer, 0, most)
        self._begin()
        with no_grad():
            return self.model.shares(own, self._cache, number)  # type: ignore[no-any-return]

    def _whole(self, op: str, name: str, prompt: Any) -> list[int]:
        """Return the tokens of a prompt that the context holds."""
        tokens = self._tokens(op, prompt)
        if not 0 < len(tokens) <= self.context:
            given = Description(f"{len(tokens)} tokens")
            raise InvalidArgument(op, name, given, f"have 1 to {self.context} tokens")
        return tokens

    def _begin(self) -> None:
        """Start another sequence in the cache."""
        self._sequence.forget()
        self._cache.move_to(0)

    def close(self) -> None:
        """Free the memory on the GPU. The model cannot be used any more."""
        if not self._is_closed:
            self._is_closed = True
            self._sequence.close()
            del self.model, self._cache, self._steps, self._sequence

    def _requests(
        self, op: str, prompts: Sequence[Any], max_tokens: Any = 256, temperature: Any = 0.0,
        top_k: Any = 0, top_p: Any = 1.0, min_p: Any = 0.0, repetition_penalty: Any = 1.0,
        seed: Any = None, stop: Any = None, logprobs: Any = False, regex: Any = None,
        json_schema: Any = None,
    ) -> list[Request]:  # fmt: skip
        settings = settings_of(
            op, temperature, top_k, top_p, min_p, repetition_penalty, logprobs,
            is_constrained=regex is not None or json_schema is not None,
        )  # fmt: skip
        most = checks.integer(op, "max_tokens", max_tokens, 1)
        own = None if seed is None else checks.integer(op, "seed", seed, 0, 2**63 - 1)
        tokens = [self._tokens(op, one) for one in prompts]
        if not all(tokens):
            raise InvalidArgument(op, "prompt", Description("no tokens"), "have at least 1 token")
        stops, guide = stops_of(op, stop), self._guide(op, regex, json_schema)
        # Copies of a guide share what they have computed.
        return [Request(one, settings, most, stops, own, self._ends, copy(guide)) for one in tokens]

    def _guide(self, op: str, regex: Any, schema: Any) -> Guide | None:
        """Return the guide of a constraint."""
        if regex is None and schema is None:
            return None
        if regex is not None and schema is not None:
            raise InvalidArgument(op, "regex", regex, "left out beside json_schema")
        if schema is None:
            automaton = parsed(op, "regex", regex)
        else:
            automaton = parsed(op, "json_schema", pattern_of(op, schema))
        if self._token_bytes is None:
            self._token_bytes = TokenBytes(self.tokenizer, self.model.vocabulary)
        return Guide(automaton, self._token_bytes, self._ends)

    def _tokens(self, op: str, prompt: Any) -> list[int]:
        found = self.tokens(op, prompt)
        self._follow()
        return found

    def tokens(self, op: str, prompt: Any, *, add_special_tokens: bool = True) -> list[int]:
        """Return the tokens of a text, of messages, or checked tokens. ``op`` is for errors."""
        self.check_open(op)
        if isinstance(prompt, str):
            return self.tokenizer.encode(prompt, add_special_tokens)
        if isinstance(prompt, list | tuple | np.ndarray) and len(prompt):
            if isinstance(prompt[0], Mapping):
                text = self.prompt_of(list(prompt))
                return self.tokenizer.encode(text, add_special_tokens=not self._begins(text))
            most = self.model.vocabulary - 1
            return [checks.integer(op, "prompt", int(one), 0, most) for one in prompt
                    if _is_token(op, one)]  # fmt: skip
        raise InvalidType(op, "prompt", prompt, "a text, tokens, or messages")

    def _begins(self, text: str) -> bool:
        """Whether a template's text has the token of the beginning."""
        first = self._variables.get("bos_token")
        return bool(first) and text.startswith(str(first))


def _is_token(op: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidType(op, "prompt", value, "a text, tokens, or messages")
    return True

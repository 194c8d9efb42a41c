"""Chat templates: Jinja2's language within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.llm.tokens.templates import ChatTemplate

pytestmark = pytest.mark.fast

MESSAGES = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Hi & <b>"},
]
#: As in SmolLM2's file.
SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def render(source: str, messages: Any = MESSAGES, **variables: Any) -> str:
    return ChatTemplate(source, {"bos_token": "<s>"}).render(messages, **variables)


def test_a_real_template() -> None:
    assert render(SMOLLM2) == (
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHi & <b><|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert render(SMOLLM2, MESSAGES[1:], add_generation_prompt=False).startswith(
        "<|im_start|>system\nYou are"
    )


def test_what_templates_use() -> None:
    for source, expected in (
        ("{{ bos_token }}{{ messages[1].content | trim }}", "<s>Hi & <b>"),
        ("{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
         "{% endfor %}{{ ns.n }}", "2"),
        ("{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list "
         "| join(', ') }}", "Hi & <b>"),
        ("{{ {'a': [1, 'ü']} | tojson }}", '{"a": [1, "ü"]}'),
        ("{% for m in messages %}{% if loop.index0 is even %}{{ m.role }}{% continue %}"
         "{% endif %}-{% endfor %}", "system-"),
        ("{{ 'a' ~ 1 ~ messages[0].role[:3] }}", "a1sys"),
        ("{{ messages[0].content.split(' ')[0].replace('B', 'b') }}", "be"),
        ("{{ '%s' | length }}{{ extra is defined }}{{ 'x' * 0 if false else 'y' }}", "2Falsey"),
        ("{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(3) }}", "[3]"),
        ("{{ messages[-1]['content'] | replace('Hi', 'Ho') }}", "Ho & <b>"),
    ):  # fmt: skip
        assert render(source) == expected, source


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% for a in 'x'.ljust(10) %}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{{ 2 ** 100000000 }}",
        "{{ 'x'.center(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ [1] * 1000000000 }}",
        "{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 30 + "{{ x }}",
        "{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x + x %}" * 30 + "{{ x }}",
        "{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x.replace('a', x) %}" * 9 + "{{ x }}",
        "{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x | replace('a', x) %}" * 9 + "{{ x }}",
        "{% set x = ['aaaaaaaa'] %}" + "{% set x = x + x %}" * 30,
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.__init__.__globals__ }}",
        "{{ lipsum(1000000) }}",
        "{{ range(100000000) | list }}",
        "{{ raise_exception('no') }}",
        "{{ messages.append(1) }}",
        "{{ 1 // 0 }}",
    ],
)
def test_bombs_and_escapes(source: str) -> None:
    with pytest.raises(InvalidArgument, match="chat: "):
        render(source)


def test_malformed_templates_and_messages() -> None:
    for source in ("{% for %}", "{{ x", "{% endif %}", "{% include 'x' %}{{ x(", "(" * 100000):
        try:
            found = render(source)
        except InvalidArgument:
            continue
        assert found == source
    for messages in ([], "hi", [1], [{"content": "x"}], [{"role": "user", "content": 3}]):
        with pytest.raises(InvalidType, match="messages must be"):
            render("x", messages)

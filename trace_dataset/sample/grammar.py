"""Templates with choices and slots: `we [loved|liked] the {dish}` becomes one of many sentences.

A template is text with `[a|b|c]` for a choice (may nest, may hold an empty branch) and `{name}` for a slot. Slots are
lists of further templates; `⟦` and `⟧` stand for brackets in the text. Compiling once and expanding often keeps a
review under half a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Uniform: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Slot:
    """A reference to a named list of templates."""

    name: str


# A sequence of literal text, slots, and choices; a choice is a tuple of sequences.
Part: TypeAlias = "str | Slot | tuple[list[Part], ...]"
Sequence: TypeAlias = list[Part]
Slots: TypeAlias = Mapping[str, list[Sequence]]

_LITERAL = str.maketrans("⟦⟧", "[]")
_TOKENS = re.compile(r"[\[\]|]|\{[a-z_0-9]+\}|[^\[\]|{}]+")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!one\b|once\b|uni|use|usu|eu|Eu|UNI)")


def compile_template(template: str) -> Sequence:
    """Parse one template.

    Raises:
        ValueError: unbalanced brackets or a stray brace, with the template.
    """
    tokens = _TOKENS.findall(template)
    if "".join(tokens) != template:
        raise ValueError(f"stray brace in template {template!r}")
    sequence, position = _sequence(tokens, 0, nested=False)
    if position != len(tokens):
        raise ValueError(f"unbalanced brackets in template {template!r}")
    return sequence


def _sequence(tokens: list[str], position: int, nested: bool) -> tuple[Sequence, int]:
    parts: Sequence = []
    while position < len(tokens):
        token = tokens[position]
        if token == "[":
            choice, position = _choice(tokens, position + 1)
            parts.append(choice)
        elif token == "]" or (token == "|" and nested):
            return parts, position
        else:
            parts.append(Slot(token[1:-1]) if token[0] == "{" else token.translate(_LITERAL))
            position += 1
    return parts, position


def _choice(tokens: list[str], position: int) -> tuple[tuple[Sequence, ...], int]:
    branches: list[Sequence] = []
    while True:
        branch, position = _sequence(tokens, position, nested=True)
        branches.append(branch)
        if position >= len(tokens):
            raise ValueError(f"unbalanced brackets in template {''.join(tokens)!r}")
        position += 1
        if tokens[position - 1] == "]":
            return tuple(branches), position


def compile_all(templates: Iterable[str]) -> list[Sequence]:
    """Parse a list of templates."""
    return [compile_template(template) for template in templates]


def pick(options: list[Sequence], uniform: Uniform) -> Sequence:
    """Return one of the options, each equally likely."""
    return options[int(uniform() * len(options))]


def expand(sequence: Sequence, slots: Slots, uniform: Uniform) -> str:
    """Return one sentence of a template; `a` becomes `an` before a vowel."""
    out: list[str] = []
    _expand(sequence, slots, uniform, out)
    text = "".join(out)
    return _ARTICLE.sub(r"\1n ", text) if "a " in text or text.startswith("A ") else text


def _expand(sequence: Sequence, slots: Slots, uniform: Uniform, out: list[str]) -> None:
    for part in sequence:
        if type(part) is str:
            out.append(part)
        elif type(part) is tuple:
            _expand(part[int(uniform() * len(part))], slots, uniform, out)
        else:
            options = slots[part.name]  # type: ignore[union-attr]
            _expand(options[int(uniform() * len(options))], slots, uniform, out)


def slot_names(sequence: Sequence) -> set[str]:
    """Return the names of all slots a template can reach directly; used to check a bank."""
    found: set[str] = set()
    for part in sequence:
        if isinstance(part, Slot):
            found.add(part.name)
        elif isinstance(part, tuple):
            for branch in part:
                found |= slot_names(branch)
    return found

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
_HEAD = re.compile(r" (?:of|with|in|and|on|for|by|from|upstairs) ")
_VERBS = {
    "was": "were",
    "is": "are",
    "has": "have",
    "looks": "look",
    "tastes": "taste",
    "needs": "need",
    "comes": "come",
    "deserves": "deserve",
    "reads": "read",
    "takes": "take",
    "alone is": "alone are",
    "isn't": "aren't",
    "wasn't": "weren't",
}
_VERB = re.compile(
    r"(?<!of )(\x04[^\x03]*)\x03( | really | still | here )(" + "|".join(sorted(_VERBS, key=len, reverse=True)) + r")\b"
)
_DETERMINERS = {
    "half a": "half the ",
    "every other": "all other ",
    "a better": "better ",
    "that": "those ",
    "a": "",
    "an": "",
    "one": "one order of ",
    "another": "more ",
}
_DETERMINER = re.compile(rf"\b({'|'.join(sorted(_DETERMINERS, key=len, reverse=True))}) (?=\x04)", re.I)
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


def is_plural(phrase: str) -> bool:
    """Tell whether a noun phrase takes a plural verb: `fish tacos` and `lamb chops` do, `French dip` does not."""
    head = _HEAD.split(phrase)[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "leches"))


def marked(phrase: str) -> str:
    """Return a phrase that `expand` makes its surroundings agree with: `the fish tacos was` becomes `were`."""
    return f"\x04{phrase}\x03" if is_plural(phrase) else phrase


def expand_raw(sequence: Sequence, slots: Slots, uniform: Uniform) -> str:
    """Return an expansion that still holds the marks of `marked`, to be put into another template."""
    out: list[str] = []
    _expand(sequence, slots, uniform, out)
    return "".join(out)


def expand(sequence: Sequence, slots: Slots, uniform: Uniform) -> str:
    """Return one sentence of a template; verbs agree with plural nouns, `a` becomes `an` before a vowel."""
    text = expand_raw(sequence, slots, uniform)
    if "\x03" in text:
        text = _VERB.sub(lambda match: match[1] + match[2] + _VERBS[match[3]], text)
        text = _DETERMINER.sub(lambda match: _DETERMINERS[match[1].lower()], text)
        text = text.replace("\x03", "").replace("\x04", "")
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

"""Sentences from data: alternatives in `(a|b|c)`, named lists in `<name>`, slots in `{slot}`; nothing else is special.

A text of the wording files is compiled once; saying it draws one branch of each alternative. Within one dialogue the
same line is not said twice where another is left.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

TOKEN = re.compile(r"[()|]|<[a-z_.@]+>|\{[a-z_]+\}|[^()|<>{}]+")
MOST_TRIES = 6

Node = str | tuple[str, object]


@cache
def wording_file(name: str) -> dict[str, list[str]]:
    """Return a wording file of this folder: list name to lines."""
    text = resources.files("trace_dataset.dialogues").joinpath(name).read_text("utf-8")
    lists: dict[str, list[str]] = json.loads(text)
    return lists


@cache
def compiled(line: str) -> tuple[Node, ...]:
    """Return a line as nodes: text, `("slot", name)`, `("list", name)`, `("any", branches)`.

    Raises:
        ValueError: brackets that do not match.
    """
    tokens = TOKEN.findall(line)
    if "".join(tokens) != line:
        raise ValueError(f"stray bracket in the wording {line!r}")
    nodes, rest = _sequence(tokens, 0)
    if rest != len(tokens):
        raise ValueError(f"unbalanced brackets in the wording {line!r}")
    return nodes


class Voice:
    """Speaks lines of the wording lists, avoiding its own words of earlier in the dialogue.

    `blanked` names slots that are spoken as `_`: so one measures how varied the frames are.
    """

    def __init__(
        self, lists: Mapping[str, Sequence[str]], rng: random.Random, blanked: frozenset[str] = frozenset()
    ) -> None:
        self.lists, self.rng, self.blanked = lists, rng, blanked
        self._said: set[str] = set()

    def say(self, name: str, slots: Mapping[str, str] | None = None) -> str:
        """Return a line of the list `name`, with its alternatives drawn and its slots filled."""
        return self.line(self.lists[name], slots)

    def line(self, lines: Sequence[str], slots: Mapping[str, str] | None = None) -> str:
        """Return one of these lines, one not said before if there is any."""
        for _ in range(MOST_TRIES):
            line = lines[int(self.rng.random() * len(lines))]
            if line not in self._said:
                break
        self._said.add(line)
        return self._speak(compiled(line), slots or {})

    def _speak(self, nodes: Sequence[Node], slots: Mapping[str, str]) -> str:
        parts = []
        for node in nodes:
            if isinstance(node, str):
                parts.append(node)
                continue
            kind, value = node
            if kind == "slot":
                parts.append("_" if value in self.blanked else slots[str(value)])
            elif kind == "list":
                parts.append(self.say(str(value), slots))
            else:
                branches: Sequence[Sequence[Node]] = value  # type: ignore[assignment]
                parts.append(self._speak(branches[int(self.rng.random() * len(branches))], slots))
        return "".join(parts)


def _sequence(tokens: Sequence[str], start: int) -> tuple[tuple[Node, ...], int]:
    nodes: list[Node] = []
    while start < len(tokens) and tokens[start] not in ("|", ")"):
        token = tokens[start]
        start += 1
        if token == "(":
            branches = []
            while True:
                branch, start = _sequence(tokens, start)
                branches.append(branch)
                if start >= len(tokens):
                    raise ValueError(f"a bracket is not closed in {''.join(tokens)!r}")
                start += 1
                if tokens[start - 1] == ")":
                    break
            nodes.append(("any", tuple(branches)))
        elif token[0] == "<":
            nodes.append(("list", token[1:-1]))
        elif token[0] == "{":
            nodes.append(("slot", token[1:-1]))
        else:
            nodes.append(token)
    return tuple(nodes), start

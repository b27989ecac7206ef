"""Text primitives of the metrics: normal form, tokens, labels, quotes, sentences, and the overlap of two texts.

Offsets always stay in the raw text; the normal form serves comparisons only (definitions, section 2). This file needs the
standard library and RapidFuzz, nothing else, so that a published metric can carry a copy of it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

_DOUBLE = "“”„‟«»"
_SINGLE = "‘’‚‛′"
_MARKS = str.maketrans({**dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys(_SINGLE, "'")})
_STRAIGHT = '"＂'
_OPENERS = "“„‟«"
_ANY_MARK = re.compile(f"[{_STRAIGHT}{_DOUBLE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile("[\r\n\x85\u2028\u2029]")
# Longer numbers than 18 digits are no labels of anybody, and int() refuses 4,301 of them.
_NUMBER = re.compile(r"R([0-9]{1,18})")
_LABEL = r"\[R[0-9]{1,18}(?:\s*[,;]\s*R[0-9]{1,18})*\]"
_LABELS = re.compile(_LABEL)
# The look-behinds and possessive repeats keep long runs of blanks or full stops from costing quadratic time.
_LABELS_BEFORE_MARK = re.compile(rf"(?:(?<!\s)\s*+{_LABEL})+(?=[.,;:!?)]|\s*$)")
_TOKEN = re.compile(r"\w+(?:'\w+)*")
_SENTENCE_END = re.compile(rf"(?<![.!?])[.!?]++[\"'”’»)\]]*+(?:\s*+{_LABEL})*+\s+")
_ABBREVIATION = re.compile(r"(?:^|[^\w.])(?:st|dr|mr|mrs|ms|ave|blvd|rd|mt|ft|vs|e\.g|i\.e)$", re.IGNORECASE)
_SENTENCE_STARTERS = "\"'“‘„«($"

ROUNDING = 1e-7  # of 100: thresholds are inclusive, and 0.55 * 100 is above 55 in binary


class QuoteSpan(NamedTuple):
    """A quoted span of a text without its marks: code points `start` to `end`, and its number of tokens."""

    start: int
    end: int
    n_tokens: int


def normalize_text(s: str) -> str:
    """Return the normal form for comparisons: NFKC, straight marks, single blanks, trimmed, lower case.

    Example:
        >>> normalize_text("  “Great”   café’s  menu ")
        '"great" café\\'s menu'
    """
    if s.isascii():
        if "  " not in s and s.isprintable():  # then blanks are the only white space, and single
            return s.strip(" ").lower()
    else:
        s = unicodedata.normalize("NFKC", s).translate(_MARKS)
    return " ".join(s.split()).lower()


def without_surrogates(text: str) -> str:
    """Return the text with U+FFFD in place of lone surrogates, which no file and no tokenizer can hold."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def label_positions(text: str) -> list[tuple[int, tuple[int, ...]]]:
    """Return where labels stand: the offset of each `[`, with the review numbers in that bracket."""
    return [
        (match.start(), tuple(int(number) for number in _NUMBER.findall(match.group())))
        for match in _LABELS.finditer(text)
    ]


def parse_citations(text: str) -> list[int]:
    """Return the review numbers of the labels `[R3]` and `[R2, R5]` in order of first use, without repeats.

    Case matters; a bare `R3`, `[r3]` and `[R 3]` are no labels.

    Example:
        >>> parse_citations("Good [R3]. Better [R1][R3]. Best [R10].")
        [3, 1, 10]
    """
    return list(dict.fromkeys(number for _, numbers in label_positions(text) for number in numbers))


def strip_labels(text: str, tidy: bool = False) -> str:
    """Return the text with a blank in place of every label; `tidy` leaves no blank before punctuation."""
    if "[R" not in text:
        return text
    return _LABELS.sub(" ", _LABELS_BEFORE_MARK.sub("", text) if tidy else text)


def tokenize(s: str) -> list[str]:
    """Return the tokens of a text: labels removed, normal form, then runs of letters and digits with inner apostrophes.

    Example:
        >>> tokenize("It's family-friendly [R12], really.")
        ["it's", 'family', 'friendly', 'really']
    """
    return _TOKEN.findall(normalize_text(strip_labels(s)))


def quote_spans(text: str, min_tokens: int = 1) -> list[QuoteSpan]:
    """Return the spans in double quotation marks, trimmed, in order; nested marks yield the outer span.

    Works line by line: a quote never crosses a line break. A straight mark is closed by the next straight one, or where there
    is none by the next curly closer. A curly opener is closed where the depth of curly marks returns to 0, or where it never
    does by the next straight mark. An opener without a closer is skipped, single marks never delimit.
    """
    if _ANY_MARK.search(text) is None:
        return []
    spans: list[QuoteSpan] = []
    line_start = 0
    for line_break in [*_LINE_BREAK.finditer(text), None]:
        line_end = line_break.start() if line_break else len(text)
        for opening, closing in _marked(text, line_start, line_end):
            inside = text[opening + 1 : closing]
            content = inside.strip()
            n_tokens = len(tokenize(content))
            if content and n_tokens >= min_tokens:
                start = opening + 1 + len(inside) - len(inside.lstrip())
                spans.append(QuoteSpan(start, start + len(content), n_tokens))
        line_start = line_end + 1
    return spans


def extract_quotes(text: str, min_tokens: int = 1) -> list[str]:
    """Return the quoted phrases of a text in order, those with fewer than `min_tokens` tokens dropped.

    Example:
        >>> extract_quotes('They say "smoky and tender" and “huge salsa bar” [R1].')
        ['smoky and tender', 'huge salsa bar']
    """
    return [text[span.start : span.end] for span in quote_spans(text, min_tokens)]


def has_double_mark(text: str) -> bool:
    """Return whether any double quotation mark stands in a text, straight or curly, closed or not."""
    return _ANY_MARK.search(text) is not None


def quote_similarity(quote: str, review: str) -> float:
    """Return how well a quote stands in a review, 0 to 1: 1 for a substring of the review's normal form.

    The best share of common characters over windows of the review as long as the quote (RapidFuzz's `partial_ratio`). A quote
    longer than the review is compared as a whole: the usual function would align the shorter review inside it, and call a
    long invention that contains a short review perfect.

    Example:
        >>> quote_similarity("NOBODY   rushed us", "We stayed two hours and nobody rushed us.")
        1.0
    """
    return similarity(normalize_text(quote), normalize_text(review)) / 100


def similarity(quote: str, review: str, cutoff: float = 0.0) -> float:
    """Return the similarity of two normal forms, 0 to 100, or 0 where it is below `cutoff`; see `quote_similarity`."""
    if not quote or not review:
        return 0.0
    if quote in review:
        return 100.0
    compare = fuzz.partial_ratio if len(quote) <= len(review) else fuzz.ratio
    return float(compare(quote, review, score_cutoff=cutoff))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text; labels stay with the sentence they follow.

    Breaks after `.`, `!`, `?` with closing marks and labels, where white space and then a capital, digit, quotation mark,
    parenthesis or `$` follow; not after abbreviations such as St., Dr. or e.g.

    Example:
        >>> split_sentences("Rooms are cozy. [R3] The inn on St. Charles is close.")
        ['Rooms are cozy. [R3]', 'The inn on St. Charles is close.']
    """
    sentences: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        following = text[match.end() : match.end() + 1]
        starts = following.isupper() or following.isdigit() or (following != "" and following in _SENTENCE_STARTERS)
        before = text[max(start, match.start() - 6) : match.start()]
        if not starts or (match.group().startswith(".") and _ABBREVIATION.search(before)):
            continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def bleu4(reference: str, hypothesis: str) -> float:
    """Return sentence BLEU of a response against one reference, 0 to 1 (M1; paper, appendix on text quality).

    Orders 1 to 4 with equal weights, brevity penalty, and Chen and Cherry's first smoothing with 0.1. An empty response, and
    one that shares no token, score 0.

    Example:
        >>> round(bleu4("we loved the quiet patio and the tacos", "we loved the quiet bar and tacos"), 6)
        0.394424
    """
    return bleu4_of_tokens(tokenize(reference), tokenize(hypothesis))


def bleu4_of_tokens(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    """Return BLEU-4 of two token lists; see `bleu4`."""
    length = len(hypothesis)
    matched = _clipped(list(hypothesis), reference)
    if not matched:
        return 0.0
    product = matched / length
    for order in (2, 3, 4):
        # without a match of one order there is none of the next
        matched = _clipped(list(_ngrams(hypothesis, order)), _ngrams(reference, order)) if matched else 0
        product *= (matched or 0.1) / max(1, length - order + 1)
    brevity = 0.0 if length > len(reference) else 1 - len(reference) / length
    return math.exp(brevity + math.log(product) / 4)


def rouge_l(reference: str, hypothesis: str) -> float:
    """Return ROUGE-L F1 over tokens, 0 to 1; 0 where a side is empty (M2; paper, appendix on text quality).

    Example:
        >>> rouge_l("the cafe is very cozy", "cozy is the cafe very")
        0.6
    """
    return rouge_l_of_tokens(tokenize(reference), tokenize(hypothesis))


def rouge_l_of_tokens(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    """Return ROUGE-L F1 of two token lists; see `rouge_l`."""
    common = LCSseq.similarity(reference, hypothesis)
    return 2 * common / (len(reference) + len(hypothesis)) if common else 0.0


def _marked(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the positions of opening and closing marks of the quotes between two offsets of one line."""
    marks = [match.start() for match in _ANY_MARK.finditer(text, start, end)]
    straight = [position for position in marks if text[position] in _STRAIGHT]
    closers = [position for position in marks if text[position] not in _STRAIGHT and text[position] not in _OPENERS]
    partner: dict[int, int] = {}
    open_marks: list[int] = []
    for position in marks:
        if text[position] in _OPENERS:
            open_marks.append(position)
        elif text[position] not in _STRAIGHT and open_marks:
            partner[open_marks.pop()] = position
    found: list[tuple[int, int]] = []
    after = start
    for position in marks:
        if position < after:
            continue
        if text[position] in _STRAIGHT:
            closing = _next(straight, position) or _next(closers, position)
        elif text[position] in _OPENERS:
            closing = partner.get(position) or _next(straight, position)
        else:
            closing = None
        if closing is not None:
            found.append((position, closing))
            after = closing + 1
    return found


def _next(positions: list[int], after: int) -> int | None:
    index = bisect_right(positions, after)
    return positions[index] if index < len(positions) else None


def _ngrams(tokens: Sequence[str], order: int) -> Iterable[tuple[str, ...]]:
    if order == 2:  # written out, since half of BLEU's time goes here
        return pairwise(tokens)
    if order == 3:
        return zip(tokens, tokens[1:], tokens[2:], strict=False)
    return zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False)


def _clipped(given: Sequence[Hashable], wanted: Iterable[Hashable]) -> int:
    """Return how many of the given n-grams are wanted, each counted at most as often as it is wanted."""
    once = set(given)
    if len(once) == len(given):  # mostly so from order 2 on, and far faster than counting
        return len(once.intersection(wanted))
    left = Counter(wanted)
    common = 0
    for ngram in given:
        count = left.get(ngram)
        if count:
            left[ngram] = count - 1
            common += 1
    return common

"""LLM Zero-Shot: a language model is shown the conversation and the candidates' cards, and told in one sentence what to do.

What it does: a card has name, stars, price, categories and three labelled reviews; there are no guidelines and no examples.
The places are those that the text names. Of a pool wider than 16 the model sees TF-IDF's best 16. Where the model gives no
usable reply, popularity answers, and the turn is counted.
Good at: reading what the user means, and a "no" above all. Bad at: quoting as densely as a template; it costs a call a turn.
Paper: section 4, B10; Table 5 gives R@1 0.533 and CGS 0.636 with gpt-5.4-mini on the authors' corpus.
"""

from __future__ import annotations

from trace_dataset.lm_baseline import LmBaseline


class LlmZeroShot(LmBaseline):
    """Asks with cards and one sentence; everything is the base class's."""

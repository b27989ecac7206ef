"""What a report cannot say from the runs at hand, and what it takes: nothing is passed over in silence."""

from __future__ import annotations

from collections.abc import Mapping

from trace_dataset.analysis.corpus import Corpus
from trace_dataset.analysis.formats import Table, missing_table
from trace_dataset.analysis.pool_tables import ablation_table
from trace_dataset.analysis.sensitivity import FEWEST
from trace_dataset.evaluation.controls import CONTROLS

WIDER = ("16", "32", "open")


def missing(by_pool: Mapping[str, Corpus], with_text: bool) -> list[Table]:
    """Return a table of what is not in a report; nothing where everything is.

    Args:
        by_pool: the runs.
        with_text: whether the page holds dialogues.
    """
    corpora = list(by_pool.values())
    every = [result for corpus in corpora for result in corpus.results]
    pools = [pool for pool in WIDER if pool not in by_pool]
    controls = [name for name in CONTROLS if all(item.name != name for item in every)]
    pairs = max(len(group) for corpus in corpora for group in corpus.comparable)
    systems = max(len(corpus.systems) for corpus in corpora)
    rows = [
        ("closed" not in by_pool, "the closed pool: Tables 5 and 6, most orderings", "runs with --pool closed"),
        ("open" in pools, "open-set R@1 (Table 6) and the drop to it", "runs with --pool open"),
        (bool(pools), f"R@1 by pool size: {', '.join(pools)}", f"runs with --pool {', '.join(pools)}"),
        (
            ablation_table(by_pool.get("open")) is None,
            "retrievers over the open pool (Table 25)",
            "runs with --pool open of tfidf, dense, or systems that ask a model",
        ),
        (pairs < 2, "systems against each other (Table 21, paired tests)", "two runs over the same dialogues"),
        (systems < FEWEST, "rank correlations over systems", f"runs of {FEWEST} systems"),
        (
            not any(item.entailment for item in every),
            "entailment grounding, CGSent, thresholds of entailment (Tables 17 and 22)",
            "trace-dataset entail RUN … --yelp …",
        ),
        (
            bool(controls),
            f"what is reached without looking: {', '.join(controls)}",
            f"trace-dataset run {' '.join(controls)}",
        ),
        (not with_text, "dialogues to read, and a map", "report … --yelp …"),
        (True, "what people said (Tables 10 to 15)", "trace-dataset agreement ANNOTATIONS --runs …"),
    ]
    return missing_table([(what, needs) for lacks, what, needs in rows if lacks])

"""Every ordering of the paper gets a verdict, by intervals over dialogues; what was not run is named."""

from __future__ import annotations

from analysis.made import dialogue, hits, results, turn

from trace_dataset.analysis.orderings import FAILS, FEW, HOLDS, MISSING, OPEN, orderings, orderings_table

N, CITIES = 40, 12


def verdicts(closed, opened=()):
    return {item.claim: item.verdict for item in orderings(closed, opened, n_boot=200)}


def system(name, hit, where=0.5, **values):
    """A run of which every turn has these values."""
    own = [dialogue(spatial_coherence=where, km_2=where, city=f"city {at % CITIES}") for at in range(N)]
    return results(name, [[turn(hit, **values)] for _ in range(N)], own)


def test_clear_differences_hold_or_fail():
    found = verdicts([system("tfidf", 0.5), system("popularity", 0.4), system("aspect", 0.6), system("spatial", 0.505)])
    assert found["tfidf above popularity on R@1"] == HOLDS
    assert found["tfidf above aspect on R@1"] == FAILS
    assert found["spatial within a point of tfidf on R@1"] == HOLDS
    assert found["itinerary within a point of tfidf on R@1"] == MISSING
    assert found["multi_review_synthesis lowest on CD"] == MISSING


def test_what_the_interval_allows_both_ways_is_open():
    cities = [dialogue(city=f"city {at % CITIES}") for at in range(N)]
    mixed = results("tfidf", [[turn(float(i % 2))] for i in range(N)], cities)
    other = results("popularity", [[turn(float(i % 3 == 0))] for i in range(N)], cities)
    assert verdicts([mixed, other])["tfidf above popularity on R@1"] == OPEN


def test_few_cells_carry_no_verdict():
    found = verdicts([hits("tfidf", [[1.0]] * N), hits("popularity", [[0.0]] * N)])
    assert found["tfidf above popularity on R@1"] == FEW
    assert found["spatial within a point of tfidf on R@1"] == MISSING


def test_the_itinerary_has_to_reach_one_and_a_half_times_tfidf():
    claim = "itinerary at least 1.5 times tfidf on Spatial"
    assert verdicts([system("tfidf", 0.5, 0.3), system("itinerary", 0.5, 0.46)])[claim] == HOLDS
    found = verdicts([system("tfidf", 0.5, 0.3), system("itinerary", 0.5, 0.44)])
    assert found[claim] == FAILS
    assert found["itinerary above all on spatial coherence at 2 km"] == HOLDS
    assert found["itinerary above all on spatial coherence at 5 km"] == OPEN, "the same at 5 km"


def test_open_pools_multi_reference_grounding_and_density():
    tfidf, wide = system("tfidf", 0.5, recall_at_1_multi=0.7, gs=0.98), system("tfidf", 0.2)
    synthesis = system("multi_review_synthesis", 0.5, cd=0.1)
    found = verdicts([tfidf, synthesis], [wide])
    assert found["tfidf: R@1 lower on the open pool"] == HOLDS
    assert found["tfidf: multi-reference R@1 above single"] == HOLDS
    assert found["tfidf: GS at least 0.99"] == FAILS
    assert found["multi_review_synthesis lowest on CD"] == HOLDS
    assert found["dense: GS, open pool, multi-reference"] == MISSING


def test_an_open_pool_run_on_fewer_dialogues_is_compared_on_those():
    rows = [[1.0], [1.0], *[[0.0]] * (N - 2)]
    fewer = hits("tfidf", [[0.0], [0.0]], pool="open")
    whole = results(
        "tfidf", [[turn(hit) for hit in row] for row in rows], [dialogue(city=f"city {at}") for at in range(N)]
    )
    assert verdicts([whole], [fewer])["tfidf: R@1 lower on the open pool"] == HOLDS


def test_runs_of_another_benchmark_or_a_second_run_carry_no_verdict_and_are_named():
    tfidf, popularity = system("tfidf", 0.5), system("popularity", 0.4)
    again = results("tfidf", [[turn(0.1)]] * N, [dialogue(city=f"city {at % CITIES}") for at in range(N)], seed=7)
    other = results("aspect", [[turn(0.1)]] * N, content_digest="f" * 64)  # ids of dialogues are the same
    found = verdicts([tfidf, popularity, again, other])
    assert found["tfidf above popularity on R@1"] == HOLDS
    assert found["tfidf above aspect on R@1"] == MISSING
    [note] = [
        note for note in orderings_table([tfidf, popularity, again, other], n_boot=50).notes if "in no verdict" in note
    ]
    assert again.fingerprint[:8] in note
    assert other.fingerprint[:8] in note
    wide = results("tfidf", [[turn(0.0)]] * N, pool="open", content_digest="f" * 64)
    assert verdicts([tfidf], [wide])["tfidf: R@1 lower on the open pool"] == MISSING


def test_a_table_counts_the_verdicts_and_controls_are_left_aside():
    table = orderings_table([system("tfidf", 0.5), system("popularity", 0.4)], n_boot=200)
    assert "tfidf above popularity on R@1" in table.markdown()
    assert "not run" in table.notes[0]
    assert orderings_table([hits("random", [[1.0]] * N, control=True)], n_boot=200) is None

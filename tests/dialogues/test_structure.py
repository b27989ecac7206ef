"""What every dialogue keeps, on 1,000 dialogues of a 240-place sample."""

from collections import Counter

from trace_dataset.dialogues.build import LEAST_REJECTIONS
from trace_dataset.schema import RECOMMENDING, SYSTEM_ACTIONS, TIERS, USER_ACTIONS


def recommending(dialogue):
    return [turn for turn in dialogue.turns if turn.action in RECOMMENDING]


def test_every_id_is_there_once_and_in_order(built):
    assert [item.dialogue_id for item in built.dialogues] == [f"trace-{index:06d}" for index in range(1000)]


def test_user_and_system_alternate_and_use_their_actions(built):
    for dialogue in built.dialogues:
        for index, turn in enumerate(dialogue.turns):
            assert turn.index == index
            assert turn.role == ("user", "system")[index % 2]
            assert turn.action in (USER_ACTIONS if turn.role == "user" else SYSTEM_ACTIONS)


def test_candidates_are_eight_places_of_the_cell(built):
    for dialogue in built.dialogues:
        assert len(set(dialogue.candidates)) == 8
        assert {(built.kb.pois[key].city, built.kb.pois[key].poi_type) for key in dialogue.candidates} == {
            (dialogue.city, dialogue.poi_type)
        }
        assert len({built.kb.pois[key].name for key in dialogue.candidates}) == 8


def test_three_places_a_comparison_and_the_rejections_of_the_tier(built):
    for dialogue in built.dialogues:
        assert len({place for turn in recommending(dialogue) for place in turn.poi_ids}) >= 3
        comparisons = [turn for turn in dialogue.turns if turn.action == "compare"]
        assert comparisons
        assert all(2 <= len(turn.poi_ids) <= 3 for turn in comparisons)
        rejections = sum(turn.action == "reject_and_refine" for turn in dialogue.turns)
        least = LEAST_REJECTIONS[dialogue.difficulty]
        assert rejections in ((least, 2) if dialogue.difficulty == "medium" else (least,))


def test_golds_satisfy_everything_asked_so_far_and_alternatives_are_exactly_the_others(built):
    for dialogue in built.dialogues:
        asked, rejected = [], set()
        for turn in dialogue.turns:
            asked += turn.constraints
            rejected |= set(turn.rejected_poi_ids)
            if turn.action not in RECOMMENDING:
                assert not turn.gold_poi_ids
                continue
            fitting = {
                key
                for key in dialogue.candidates
                if all(built.evidence.satisfaction(key, wish) == "supported" for wish in asked)
            }
            assert turn.gold_poi_ids == turn.poi_ids[:1]
            assert turn.gold_poi_ids[0] in fitting - rejected
            assert set(turn.alternative_poi_ids) == fitting - rejected - set(turn.gold_poi_ids)


def test_a_rejected_place_fails_every_new_wish_and_was_named_just_before(built):
    for dialogue in built.dialogues:
        named = ()
        for turn in dialogue.turns:
            if turn.action == "reject_and_refine":
                assert turn.rejected_poi_ids
                assert turn.constraints
                assert set(turn.rejected_poi_ids) <= set(named)
                for key in turn.rejected_poi_ids:
                    assert all(built.evidence.satisfaction(key, wish) != "supported" for wish in turn.constraints)
            elif turn.action in RECOMMENDING:
                named = turn.poi_ids


def test_a_rejected_place_is_never_named_again(built):
    for dialogue in built.dialogues:
        rejected = set()
        for turn in dialogue.turns:
            rejected |= set(turn.rejected_poi_ids)
            assert not rejected & set(turn.poi_ids)


def test_nothing_is_asked_twice(built):
    for dialogue in built.dialogues:
        asked = [wish for turn in dialogue.turns for wish in turn.constraints]
        assert len(asked) == len(set(asked))
        assert max(Counter(wish.slot for wish in asked if wish.slot != "aspect").values(), default=0) <= 1


def test_bounds_of_a_small_build(built):
    report = built.report
    assert report.dialogues == report.requested == 1000
    assert 10.0 <= report.turns_mean <= 11.0
    assert 1.5 <= report.turns_sd <= 2.2
    assert 3.0 <= report.places_mean <= 3.6
    assert 0.27 <= report.rejection_share <= 0.32
    assert 0.57 <= report.recommending_share <= 0.65
    assert report.closing_share <= 0.04
    assert report.sequences >= 12
    assert report.top_sequence_share <= 0.20
    assert all(count >= 20 for actions in report.actions_in_dialogues.values() for count in actions.values())
    shares = [report.tiers[tier] / 1000 for tier in TIERS]
    assert all(abs(share - paper) < 0.04 for share, paper in zip(shares, (0.248, 0.348, 0.306, 0.098), strict=True))


def test_gold_stands_anywhere_in_the_pool_and_has_no_special_stars(built):
    places, stars, counts = Counter(), Counter(), Counter()
    for dialogue in built.dialogues:
        by_stars = sorted(dialogue.candidates, key=lambda key: (-built.kb.pois[key].stars, key))
        by_count = sorted(dialogue.candidates, key=lambda key: (-built.kb.pois[key].review_count, key))
        for turn in recommending(dialogue):
            places[dialogue.candidates.index(turn.gold_poi_ids[0])] += 1
            stars[by_stars.index(turn.gold_poi_ids[0])] += 1
            counts[by_count.index(turn.gold_poi_ids[0])] += 1
    total = sum(places.values())
    assert all(abs(count / total - 0.125) < 0.025 for count in places.values())
    assert stars[0] / total < 0.19
    assert counts[0] / total < 0.19


def test_label_of_the_gold_is_no_hint(built):
    numbers = [
        built.kb.labels(item.candidates)[turn.quotes[0].review_id]
        for item in built.dialogues[:200]
        for turn in recommending(item)
    ]
    assert len(set(numbers)) > 60

import pytest

from kb.config.search_settings import AnchorSettings
from kb.models import Chunk, Hit, Page, Retrieved, Rewrite, Scores, Turn
from kb.retrieval.anchors import ThreadPosition, boost, position_in_thread


def a_turn(question: str, *cited: str, seen: tuple[str, ...] = (), **fields: object) -> Turn:
    retrieved = [
        Retrieved(
            page_id=page, chunk_id=f"{page}#0", title=page.replace("-", " ").title(), cited=page in cited
        )
        for page in (*cited, *seen)
    ]
    return Turn(question=question, answer="...", retrieved=tuple(retrieved), **fields)


def a_hit(page_id: str, fused: float, rerank: float | None = None, final: float | None = None) -> Hit:
    page = Page(id=page_id, source="s", path="p.md", title="T", url="https://kb.example/p")
    chunk = Chunk(id=f"{page_id}#0", page=page, position=0, text="text", url=page.url)
    return Hit(
        chunk=chunk, scores=Scores(fused=fused, rerank=rerank, final=fused if final is None else final)
    )


def anchor_pages(turns: list[Turn], rewrite: Rewrite) -> tuple[tuple[str, ...], str]:
    found = position_in_thread(turns, rewrite.query, rewrite)
    return found.pages, found.reason


def pages_of(hits: list[Hit]) -> list[str]:
    return [hit.chunk.page.id for hit in hits]


HOLIDAYS = a_turn("How many days of holiday do I get?", "leave-policy", "leave-faq", seen=("travel",))
LAPTOPS = a_turn("Which laptop can I order?", "laptop-guide")


def test_a_first_question_has_no_anchors() -> None:
    pages, reason = anchor_pages([], Rewrite(query="x"))
    assert pages == ()
    assert reason


def test_a_follow_up_stays_with_the_pages_that_the_last_answer_cited_and_no_others() -> None:
    pages, reason = anchor_pages(
        [LAPTOPS, HOLIDAYS], Rewrite(query="When do unused days expire?", is_follow_up=True)
    )
    assert pages == ("leave-policy", "leave-faq")
    assert "follow-up" in reason


def test_a_follow_up_after_a_declined_question_stays_with_the_last_answer() -> None:
    declined = a_turn("And on Mars?", seen=("space",), outcome="declined")
    pages, _ = anchor_pages([HOLIDAYS, declined], Rewrite(query="how long is it?", is_follow_up=True))
    assert pages == ("leave-policy", "leave-faq")


def test_one_shared_word_among_many_is_not_a_return() -> None:
    pages, _ = anchor_pages([HOLIDAYS, LAPTOPS], Rewrite(query="Can I work abroad during a school holiday?"))
    assert pages == ()


def test_an_announced_shift_leaves_though_its_words_resemble_the_old_topic() -> None:
    topic_a = a_turn("Tell me about Topic A", "sections-1-to-3")
    assert anchor_pages([topic_a], Rewrite(query="Now tell me about Topic B"))[0] == ()


def test_a_shift_has_no_anchors() -> None:
    pages, reason = anchor_pages([HOLIDAYS], Rewrite(query="Where is the office parking?"))
    assert pages == ()
    assert "new topic" in reason


def test_a_return_to_an_earlier_topic_gets_the_pages_of_that_topic() -> None:
    pages, reason = anchor_pages([HOLIDAYS, LAPTOPS], Rewrite(query="And back to the holidays"))
    assert pages == ("leave-policy", "leave-faq")
    assert "question 1" in reason


def test_a_return_is_recognised_by_the_title_of_a_page_or_a_topic_as_well() -> None:
    by_title, _ = anchor_pages([HOLIDAYS, LAPTOPS], Rewrite(query="What else is in the leave policy?"))
    assert by_title == ("leave-policy", "leave-faq")
    togaf = a_turn("Make me a plan", "study-plan", topics=("Phase D", "TOGAF"))
    by_topic, _ = anchor_pages([togaf, LAPTOPS], Rewrite(query="what is TOGAF?"))
    assert by_topic == ("study-plan",)


def test_a_dutch_return_is_recognised_without_its_function_words() -> None:
    mulch = a_turn("Wat is houtmulch?", "houtmulch")
    assert anchor_pages([mulch, LAPTOPS], Rewrite(query="en wat was die houtmulch?"))[0] == ("houtmulch",)
    assert anchor_pages([mulch, LAPTOPS], Rewrite(query="wat is een retourlabel?"))[0] == ()


def test_of_two_turns_on_the_same_topic_the_later_one_counts() -> None:
    newer = a_turn("How many days of holiday do interns get?", "interns")
    pages, _ = anchor_pages([HOLIDAYS, newer, LAPTOPS], Rewrite(query="the holiday"))
    assert pages == ("interns",)


def test_a_question_of_function_words_returns_nowhere() -> None:
    assert anchor_pages([HOLIDAYS], Rewrite(query="what is it?"))[0] == ()


def test_the_boost_is_recorded_and_orders_without_touching_the_fused_score() -> None:
    hits = [a_hit("a", 0.50), a_hit("b", 0.45), a_hit("c", 0.30)]
    boosted = boost(hits, ["b", "elsewhere"], 0.08)
    assert pages_of(boosted) == ["b", "a", "c"]
    assert boosted[0].scores == Scores(fused=0.45, anchor=0.08, final=pytest.approx(0.53))
    assert hits[1].scores.anchor == 0.0


@pytest.mark.parametrize(("pages", "amount"), [((), 0.08), (("a",), 0.0)])
def test_without_anchors_the_hits_are_exactly_the_unanchored_ones(
    pages: tuple[str, ...], amount: float
) -> None:
    hits = [a_hit("b", 0.2), a_hit("a", 0.5, rerank=0.1)]  # not even put in order
    for reranked in (False, True):
        result = boost(hits, pages, amount, reranked=reranked)
        assert all(one is other for one, other in zip(result, hits, strict=True))


def test_anchors_count_again_in_the_order_of_the_cross_encoder() -> None:
    reranked = [a_hit("a", 0.5, rerank=0.9, final=0.70), a_hit("b", 0.4, rerank=0.8, final=0.65)]
    again = boost(reranked, ["b"], 0.08, reranked=True)
    assert pages_of(again) == ["b", "a"]
    assert again[0].scores.final == pytest.approx(0.73)
    assert again[0].scores.anchor == 0.08


def test_anchors_do_not_count_twice_where_no_cross_encoder_ran() -> None:
    once = boost([a_hit("a", 0.5), a_hit("b", 0.4)], ["b"], 0.05)
    assert boost(once, ["b"], 0.05, reranked=True) == once


def test_hits_with_equal_scores_keep_their_order() -> None:
    hits = [a_hit("x", 0.5), a_hit("y", 0.5), a_hit("z", 0.5)]
    assert pages_of(boost(hits, ["none-of-them"], 0.1)) == ["x", "y", "z"]


def test_a_vague_follow_up_gains_more_than_one_that_says_what_it_is_about() -> None:
    settings = AnchorSettings(boost=0.02, boost_vague=0.06)
    more = Rewrite(query="Tell me more", is_follow_up=True)
    vague = position_in_thread([HOLIDAYS], "Can you elaborate more on that?", more)
    told = position_in_thread([HOLIDAYS], "Which form registers parental leave abroad?", more)
    assert vague.anchors(settings) == (("leave-policy", "leave-faq"), 0.06)
    assert told.anchors(settings) == (("leave-policy", "leave-faq"), 0.02)


def test_anchors_that_are_off_or_without_pages_add_nothing() -> None:
    off = position_in_thread([HOLIDAYS], "and then?", Rewrite(query="and then?", is_follow_up=True))
    assert off.anchors(AnchorSettings(enabled=False)) == ((), 0.0)
    assert ThreadPosition(kind="new_topic", reason="").anchors(AnchorSettings()) == ((), 0.0)


def test_an_announced_shift_drops_the_words_of_the_thread_and_a_return_those_said_since() -> None:
    shift = position_in_thread(
        [HOLIDAYS, LAPTOPS], "Now tell me about parking", Rewrite(query="parking", shift=True)
    )
    assert (shift.kind, shift.turns) == ("shift", ())
    back = position_in_thread(
        [HOLIDAYS, LAPTOPS], "Back to the holidays", Rewrite(query="Back to the holidays")
    )
    assert (back.kind, back.turns) == ("return", (HOLIDAYS,))
    new = position_in_thread([HOLIDAYS, LAPTOPS], "Where can I park?", Rewrite(query="Where can I park?"))
    assert (new.kind, new.turns) == ("new_topic", (HOLIDAYS, LAPTOPS))

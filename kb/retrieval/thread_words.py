"""Finds the words that a thread is about, for a query beside the question's own.

A follow-up leans on its thread in more ways than a rewrite can spell out: "do I need any equipment?" ten minutes after
an eclipse. So the question is also searched together with the recent words that are rare in the
knowledge base and that the question does not hold itself. It is one weighted leg of the engine call: where the thread
says nothing about the question, its passages score low and the question's own wordings decide.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from kb.models import Turn
from kb.retrieval.lexical import LexicalEncoder, Rarity
from kb.text.lexicon import lexicon, words_of

WINDOW = 4
"""Turns that are read. The words of older ones have faded below what counts."""
FADING = 0.5
"""Factor by which a word counts less for each turn since. Fitted on MTRAG govt with ANSWERED; 0.4 and 0.6 are as
good."""
ANSWERED = 0.25
"""Weight of an answer's word beside 1 of a question's: questions name what people want, answers much besides."""
COMMON = 1.6
"""Inverse document frequency at or below which a word tells nothing: every fifth passage holds it."""


def context_terms(
    question: str,
    turns: Sequence[Turn],
    language: str,
    *,
    lexical: LexicalEncoder,
    rarity: Rarity,
    limit: int,
) -> tuple[str, ...]:
    """Picks at most `limit` words of the thread (`turns`, oldest first), by weight; none that `question` holds.

    A word's weight is that of its turns (fading, and less in answers than in questions) times its rarity. Forms of one
    word count together; the commonest form is returned.
    """
    question_stems = set(lexical.stems(question, language))
    weights: defaultdict[int, float] = defaultdict(float)
    forms: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for turn, fading in _recent(turns):
        for text, weight in ((turn.question, 1.0), (turn.answer, ANSWERED)):
            for stem, of_text in _forms(text, language, lexical).items():
                forms[stem] += of_text
                count = of_text.total()
                # Saturated as in BM25: a word that stands twice is not twice as telling.
                weights[stem] += weight * fading * 2 * count / (count + 1)
    telling = {
        stem: weight * rarity({stem})
        for stem, weight in weights.items()
        if stem not in question_stems and rarity({stem}) > COMMON
    }
    best = sorted(telling, key=lambda stem: -telling[stem])[:limit]  # equal ones in the order of the thread
    return tuple(forms[stem].most_common(1)[0][0] for stem in best)


def in_context(question: str, terms: Sequence[str]) -> str:
    """Returns the query that is searched: the question, and the thread's words in brackets."""
    return f"{question} ({', '.join(terms)})"


def _recent(turns: Sequence[Turn]) -> list[tuple[Turn, float]]:
    """Returns the last turns, newest first, each with its weight; thanks and greetings do not count."""
    recent = [turn for turn in turns if turn.outcome != "chat"][-WINDOW:]
    return [(turn, FADING**age) for age, turn in enumerate(reversed(recent))]


def _forms(text: str, language: str, lexical: LexicalEncoder) -> dict[int, Counter[str]]:
    """Returns the content words of a text by stem, each with its forms and their counts."""
    words = lexicon(language)
    forms: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for word in words_of(text):
        if len(word) > 1 and words.is_content(word):
            for stem in lexical.stems(word, language)[:1]:
                forms[stem][word] += 1
    return forms

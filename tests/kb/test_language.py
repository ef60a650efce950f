from pathlib import Path

import pytest

from ingest.parsers.markup.markdown import parse_markdown
from kb.text.language import detect
from kb.text.lexicon import languages, lexicon
from tests.fakes.shared import shared

SHORT_QUESTIONS = [
    ("en de prijs?", "nl"),
    ("and the price?", "en"),
    ("hoe dik moet ik dat leggen?", "nl"),
    ("Wat is houtmulch?", "nl"),
    ("What is TOGAF?", "en"),
    ("how long?", "en"),
    ("hoe lang?", "nl"),
    ("und der Preis?", "de"),
    ("wie dick muss ich das legen?", "de"),
    ("Wie viele Urlaubstage habe ich?", "de"),
    ("et le prix ?", "fr"),
    ("Qu'est-ce que TOGAF ?", "fr"),
    ("Combien de jours de congé ai-je ?", "fr"),
    ("¿y el precio?", "es"),
    ("¿Cuántos días de vacaciones tengo?", "es"),
    ("e o preço?", "pt"),
    ("Quantos dias de férias tenho?", "pt"),
    ("e quando expiram?", "pt"),
    ("Onde posso encontrar o manual?", "pt"),
    ("and when do they expire?", "en"),
    ("en wanneer verlopen ze?", "nl"),
]
SMALL_TALK = [
    ("hi", "en"),
    ("Thanks!", "en"),
    ("Hoi!", "nl"),
    ("Dank je wel!", "nl"),
    ("Wie ben jij?", "nl"),
    ("Guten Morgen!", "de"),
    ("Vielen Dank!", "de"),
    ("Wer bist du?", "de"),
    ("merci beaucoup", "fr"),
    ("¡Hola!", "es"),
    ("Olá!", "pt"),
    ("muito obrigada", "pt"),
]
WITHOUT_A_SMALL_WORD = [
    ("Weitere Artikel", "de"),
    ("Resolviendo conflictos", "es"),
    ("M&eacute;tricas de c&oacute;digo abierto", "es"),
    ("Persévérez !", "fr"),
    ("Release notes", "en"),
    ("Incident response", "en"),
]
OTHER_SCRIPTS = [
    ("価格はいくらですか", "ja"),
    ("价格是多少？", "zh"),
    ("그 가격은?", "ko"),
    ("ποια είναι η τιμή;", "el"),
    ("מה המחיר?", "he"),
    ("ما هو سعر هذا المنتج وكم تستغرق عملية التوصيل؟", "ar"),
    ("Сколько дней отпуска я получаю в этом году и когда они сгорают?", "ru"),
]
PARAGRAPHS = [
    ("Open source kan iedereen helpen om sneller goede software te bouwen, ook binnen een bedrijf.", "nl"),
    ("Wer zum ersten Mal an einem Projekt mitarbeitet, sollte zuerst die Anleitung lesen.", "de"),
    ("Os mantenedores podem pedir ajuda à comunidade sempre que precisarem de descansar um pouco.", "pt"),
    ("Społeczność pomaga opiekunom projektu w pisaniu dokumentacji oraz w naprawianiu błędów.", "pl"),
]


@pytest.mark.parametrize(
    ("text", "language"), [*SHORT_QUESTIONS, *SMALL_TALK, *WITHOUT_A_SMALL_WORD, *OTHER_SCRIPTS, *PARAGRAPHS]
)
def test_a_text_is_told_by_its_language(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize("text", ["TOGAF?", "MacBooks?", "ADM"])
def test_the_thread_decides_where_a_text_tells_nothing(text: str) -> None:
    assert detect(text, hint="nl") == "nl"


def test_a_clear_question_is_not_overruled_by_its_thread() -> None:
    assert detect("What about the warranty?", hint="nl") == "en"


@pytest.mark.parametrize("text", ["", "   ", "42", "👍", "<@U0123> :tada:"])
def test_a_text_without_words_takes_the_hint_then_the_default(text: str) -> None:
    assert detect(text, hint="de") == "de"
    assert detect(text, default="nl") == "nl"


def test_code_and_links_do_not_count() -> None:
    assert (
        detect("Hoe gebruik ik `for item in the_list: print(item)` hier? https://the.example/and/of/it")
        == "nl"
    )


def test_every_language_file_loads_and_fills_the_classes_that_the_gate_needs() -> None:
    for language in languages():
        known = lexicon(language)
        assert known.words.question
        assert known.words.copulas & known.words.auxiliaries
        assert known.reference.things
        assert known.ellipsis.openers
        assert known.small_talk.greeting
        assert len(known.sequence.weekdays) == 7
        assert len(known.sequence.months) == 12


def test_a_language_without_a_file_has_an_empty_lexicon() -> None:
    assert lexicon("fi").function_words == frozenset()


def test_headings_of_a_guide_are_told_by_themselves_and_better_with_their_pages_language() -> None:
    """What is left in English in a translated page does not count."""
    guide = shared("data/kb/opensource-guide-multilingual/tree/_articles")
    english = {heading for page in guide.glob("*.md") for heading in _headings(page)}
    alone, hinted, total = 0, 0, 0
    for language in languages():
        for page in sorted((guide / language).glob("*.md")):
            text = page.read_text(encoding="utf-8").split("---", 2)[2]
            of_page = detect(text)
            for heading in _headings(page) - english:
                total += 1
                alone += detect(heading) == language
                hinted += detect(heading, hint=of_page) == language
    assert total > 700
    assert alone / total >= 0.935
    assert hinted / total >= alone / total


def _headings(page: Path) -> set[str]:
    parsed = parse_markdown(page.read_bytes(), path=page.name)
    return {parsed.title, *(heading for section in parsed.sections for heading in section.path)}

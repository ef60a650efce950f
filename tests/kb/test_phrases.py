import pytest

from kb.text.phrases import asks_something, is_empty_reference, small_talk


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("hi", "en", "greeting"),
        ("Hello there!", "en", "greeting"),
        ("<@U0123> hey all :wave:", "en", "greeting"),
        ("thanks!", "en", "thanks"),
        ("Thank you so much, that helps", "en", "thanks"),
        ("ok thanks", "en", "thanks"),
        ("hi, thanks!", "en", "thanks"),
        ("who are you?", "en", "who_are_you"),
        ("hi, what can you do?", "en", "who_are_you"),
        ("bye", "en", "goodbye"),
        ("hoi", "nl", "greeting"),
        ("dank je wel!", "nl", "thanks"),
        ("wie ben jij?", "nl", "who_are_you"),
        ("tot ziens", "nl", "goodbye"),
        ("Guten Morgen", "de", "greeting"),
        ("vielen Dank", "de", "thanks"),
        ("merci beaucoup", "fr", "thanks"),
        ("¡Hola!", "es", "greeting"),
        ("thanks", "nl", "thanks"),
    ],
)
def test_small_talk_is_recognised(text: str, language: str, kind: str) -> None:
    assert small_talk(text, language) == kind


@pytest.mark.parametrize(
    "text",
    [
        "thanks, and the price?",
        "hi, how many days of holiday do I get?",
        "Who are you supposed to ask for leave?",
        "what can you do about a broken laptop",
        "help with my expenses",
        "thanksgiving is a holiday?",
        "ok",
        "",
        "hello world program",
        "is it a nice day off?",
    ],
)
def test_a_message_that_says_anything_else_is_no_small_talk(text: str) -> None:
    assert small_talk(text, "en") is None


@pytest.mark.parametrize(
    "text",
    [
        "and when do they expire?",
        "and the price",
        "how long",
        "tell me more",
        "what about Canada",
        "en de prijs",
        "hoe dik moet dat",
        "und der Preis",
        "et le prix",
        "y el precio",
        "can you list them",
        "thanks, and the price?",
        "ok, but what does it cost",
        "价格是多少？",
        "who are you",
    ],
)
def test_a_reply_that_wants_an_answer_is_noticed(text: str) -> None:
    assert asks_something(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "I agree with Bob",
        "lol",
        "will do",
        "thanks!",
        "done, see the sheet",
        "<@U0123> looks good to me",
        "mee eens",
        "alles klar",
        "d'accord",
        "vale",
        ":tada:",
        "",
        "https://example.com/page?id=3",
        "and we went home",
        "I fixed the build",
    ],
)
def test_a_reply_among_people_is_left_alone(text: str) -> None:
    assert not asks_something(text)


@pytest.mark.parametrize(
    "text", ["what about it?", "and that?", "tell me more", "how about those", "en dat?", "was ist damit?"]
)
def test_a_question_of_reference_words_alone_says_nothing(text: str) -> None:
    assert is_empty_reference(text)


@pytest.mark.parametrize(
    "text", ["what about the price?", "what is TOGAF?", "holiday", "how does it work with leave?"]
)
def test_a_question_with_a_word_of_its_own_says_something(text: str) -> None:
    assert not is_empty_reference(text)

"""Number words, months, weekdays and units in English, Dutch and German, each to one canonical value."""

from __future__ import annotations

from collections.abc import Mapping


def _numbered(listed: str, start: int) -> dict[str, int]:
    """Groups of synonyms separated by "|", numbered from `start`."""
    return {word: at for at, group in enumerate(listed.split("|"), start) for word in group.split()}


def _listed(words: str) -> list[str]:
    return words.split()


_UNITS_EN = _listed("two three four five six seven eight nine")
_UNITS_NL = _listed("twee drie vier vijf zes zeven acht negen")
_UNITS_DE = _listed("zwei drei vier fünf sechs sieben acht neun")
_TENS_EN = _listed("twenty thirty forty fifty sixty seventy eighty ninety")
_TENS_NL = _listed("twintig dertig veertig vijftig zestig zeventig tachtig negentig")
_TENS_DE = _listed("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")


def _number_words() -> dict[str, float]:
    words: dict[str, float] = {
        **_numbered(
            "two twee zwei|three drie drei|four vier|five vijf fünf|six zes sechs|seven zeven sieben", 2
        ),
        **_numbered("eight acht|nine negen neun|ten tien zehn|eleven elf|twelve twaalf zwölf", 8),
        **_numbered("thirteen dertien dreizehn|fourteen veertien vierzehn|fifteen vijftien fünfzehn", 13),
        **_numbered("sixteen zestien sechzehn|seventeen zeventien siebzehn|eighteen achttien achtzehn", 16),
        **_numbered("nineteen negentien neunzehn", 19),
        "hundred": 100,
        "honderd": 100,
        "hundert": 100,
        "thousand": 1000,
        "duizend": 1000,
        "tausend": 1000,
        "anderhalf": 1.5,
        "anderhalve": 1.5,
        "anderthalb": 1.5,
        "zwo": 2,
        "één": 1,
        "one": 1,
    }
    words |= dict.fromkeys(("hundred", "honderd", "hundert"), 100)
    words |= dict.fromkeys(("thousand", "duizend", "tausend"), 1000)
    words |= {"anderhalf": 1.5, "anderhalve": 1.5, "anderthalb": 1.5, "één": 1, "one": 1}
    for at, (en, nl, de) in enumerate(zip(_TENS_EN, _TENS_NL, _TENS_DE, strict=True), 2):
        words |= {en: at * 10, nl: at * 10, de: at * 10, f"{en}-one": at * 10 + 1}
        words |= {f"eenen{nl}": at * 10 + 1, f"einund{de}": at * 10 + 1}
        for unit, (one, een, ein) in enumerate(zip(_UNITS_EN, _UNITS_NL, _UNITS_DE, strict=True), 2):
            joint = "ën" if een.endswith("e") else "en"
            value = at * 10 + unit
            words |= {f"{en}-{one}": value, f"{een}{joint}{nl}": value, f"{ein}und{de}": value}
    return words


NUMBER_WORDS: Mapping[str, float] = _number_words()
"""From one to a thousand. "een", "ein" and "a" are articles and not here."""

SCALES: Mapping[str, float] = {
    **dict.fromkeys(("thousand", "duizend", "tausend", "k"), 1e3),
    **dict.fromkeys(("hundred", "honderd", "hundert"), 1e2),
    **dict.fromkeys(("million", "millions", "miljoen", "million", "millionen", "mio", "mln"), 1e6),
    **dict.fromkeys(("billion", "miljard", "milliarde", "milliarden"), 1e9),
}

MONTHS: Mapping[str, int] = _numbered(
    "january januari januar jan|february februari februar feb|march maart märz mrt mar|april apr|may mei mai"
    "|june juni jun|july juli jul|august augustus aug|september sept sep|october oktober okt oct"
    "|november nov|december dezember dec dez",
    1,
)

WEEKDAYS: Mapping[str, int] = _numbered(
    "monday mondays maandag maandags montag montags|tuesday tuesdays dinsdag dienstag dienstags"
    "|wednesday wednesdays woensdag mittwoch mittwochs|thursday thursdays donderdag donnerstag donnerstags"
    "|friday fridays vrijdag freitag freitags|saturday saturdays zaterdag samstag samstags"
    "|sunday sundays zondag sonntag sonntags",
    0,
)

_UNIT_GROUPS: Mapping[str, str] = {
    "day": "day days dag dagen tag tage tagen workday workdays werkdag werkdagen werktag werktage werktagen "
    "arbeitstag arbeitstage arbeitstagen kalenderdagen kalendertage vakantiedagen verlofdagen urlaubstage",
    "week": "week weeks weken woche wochen",
    "month": "month months maand maanden monat monate monaten",
    "year": "year years jaar jaren jahr jahre jahren",
    "hour": "hour hours hr hrs uur uren stunde stunden h",
    "minute": "minute minutes min mins minuut minuten",
    "second": "second seconds sec secs seconde seconden sekunde sekunden",
    "%": "% percent procent prozent pct",
    "eur": "€ eur euro euros",
    "usd": "$ usd dollar dollars",
    "gbp": "£ gbp pound pounds pond pfund",
    "km": "km kilometre kilometres kilometer kilometers",
    "meter": "metre metres meter meters",
    "cm": "cm centimeter centimeters centimetre centimetres",
    "mm": "mm millimeter millimeters millimetre millimetres",
    "kg": "kg kilo kilos kilogram kilograms kilogramm",
    "gram": "gram grams gramm",
    "litre": "litre litres liter liters",
    "gb": "gb gigabyte gigabytes",
    "mb": "mb megabyte megabytes",
    "tb": "tb terabyte terabytes",
    "ms": "ms millisecond milliseconds",
    "mile": "mile miles mijl mijlen meile meilen",
    "night": "night nights nacht nachten nächte nächten",
    "°c": "°c celsius",
    "°f": "°f fahrenheit",
}
UNITS: Mapping[str, str] = {word: unit for unit, words in _UNIT_GROUPS.items() for word in words.split()}

TIME_UNITS = frozenset({"day", "week", "month", "year", "hour", "minute", "second", "night"})
RATE_WORDS = frozenset(
    {"a", "an", "per", "each", "every", "pro", "je", "jede", "jeden", "elke", "ieder", "/"}
)

"""Number words, months, weekdays and units in English, Dutch, German, Spanish and French, each to one canonical value."""

from __future__ import annotations

from collections.abc import Mapping

from kb.text.wording import word_set


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
        **dict.fromkeys(("dozen", "dozijn", "dutzend", "docena", "douzaine"), 12),
        "hundred": 100,
        "honderd": 100,
        "hundert": 100,
        "thousand": 1000,
        "duizend": 1000,
        "tausend": 1000,
        "anderhalf": 1.5,
        "twice": 2,
        "tweemaal": 2,
        "zweimal": 2,
        "thrice": 3,
        "driemaal": 3,
        "dreimal": 3,
        "anderhalve": 1.5,
        "anderthalb": 1.5,
        "zwo": 2,
        "één": 1,
        "one": 1,
    }
    words |= _numbered(
        "dos deux|tres trois|cuatro quatre|cinco cinq|seis|siete sept|ocho huit|nueve neuf|diez dix", 2
    )
    words |= _numbered("onze|doce douze|trece treize|catorce quatorze|quince quinze|dieciséis seize", 11)
    words |= {
        "veinte": 20,
        "vingt": 20,
        "treinta": 30,
        "trente": 30,
        "cuarenta": 40,
        "quarante": 40,
        "sesenta": 60,
    }
    words |= {"soixante": 60, "cien": 100, "mille": 1000}
    for at, (en, nl, de) in enumerate(zip(_TENS_EN, _TENS_NL, _TENS_DE, strict=True), 2):
        words |= {en: at * 10, nl: at * 10, de: at * 10, f"{en}-one": at * 10 + 1}
        words |= {f"eenen{nl}": at * 10 + 1, f"einund{de}": at * 10 + 1}
        for unit, (one, een, ein) in enumerate(zip(_UNITS_EN, _UNITS_NL, _UNITS_DE, strict=True), 2):
            joint = "ën" if een.endswith("e") else "en"
            value = at * 10 + unit
            words |= {f"{en}-{one}": value, f"{een}{joint}{nl}": value, f"{ein}und{de}": value}
    return words | {word.casefold(): value for word, value in words.items()}


NUMBER_WORDS: Mapping[str, float] = _number_words()
"""From one to a thousand. "een", "ein" and "a" are articles and not here."""

SCALES: Mapping[str, float] = {
    **dict.fromkeys(("thousand", "duizend", "tausend", "k"), 1e3),
    **dict.fromkeys(("hundred", "honderd", "hundert"), 1e2),
    **dict.fromkeys(("million", "millions", "miljoen", "million", "millionen", "mio", "mln"), 1e6),
    **dict.fromkeys(("billion", "miljard", "milliarde", "milliarden"), 1e9),
}

MONTHS: Mapping[str, int] = _numbered(
    "january januari januar jan enero janvier|february februari februar feb febrero février"
    "|march maart märz mrt mar marzo mars|april apr abril avril|may mei mai mayo|june juni jun junio juin"
    "|july juli jul julio juillet|august augustus aug agosto août|september sept sep septiembre septembre"
    "|october oktober okt oct octubre octobre|november nov noviembre novembre"
    "|december dezember dec dez diciembre décembre",
    1,
)

WEEKDAYS: Mapping[str, int] = _numbered(
    "monday mondays maandag maandags montag montags lunes lundi|tuesday tuesdays dinsdag dienstag dienstags martes mardi"
    "|wednesday wednesdays woensdag mittwoch mittwochs miércoles mercredi|thursday thursdays donderdag donnerstag donnerstags jueves jeudi"
    "|friday fridays vrijdag freitag freitags viernes vendredi|saturday saturdays zaterdag samstag samstags sábado sábados samedi"
    "|sunday sundays zondag sonntag sonntags domingo domingos dimanche",
    0,
)

WEEKEND: Mapping[str, frozenset[int]] = dict.fromkeys(
    ("weekend", "weekends", "weekenden", "wochenende", "wochenenden", "week-end"), frozenset({5, 6})
)
"""What names several days at once."""

SEASONS: Mapping[str, int] = _numbered(
    "spring lente voorjaar frühling frühjahr primavera printemps|summer zomer sommer verano été"
    "|autumn herfst najaar herbst otoño automne|winter invierno hiver",
    10,
)
"""Numbered after the weekdays, to be compared with them."""

EVERY: Mapping[str, str] = {
    word: unit
    for unit, words in {
        "hour": "hourly stündlich stündliche stündlichen",
        "day": "daily dagelijks dagelijkse täglich tägliche täglichen täglicher diario diaria diariamente quotidien quotidienne",
        "week": "weekly wekelijks wekelijkse wöchentlich wöchentliche wöchentlichen semanal semanalmente hebdomadaire",
        "month": "monthly maandelijks maandelijkse monatlich monatliche monatlichen mensual mensualmente mensuel mensuelle",
        "year": "yearly annual annually jaarlijks jaarlijkse jährlich jährliche jährlichen anual anualmente annuel annuelle",
    }.items()
    for word in words.split()
}
"""How often, as the unit of time that goes by."""

ORDINALS: Mapping[str, int] = _numbered(
    "first eerste erste ersten erster erstes primera primer premier première|second tweede zweite zweiten zweiter zweites segundo segunda deuxième"
    "|third derde dritte dritten dritter drittes tercero tercera troisième"
    "|fourth vierde vierte vierten vierter cuarto cuarta quatrième"
    "|fifth vijfde fünfte fünften fünfter quinto quinta cinquième"
    "|sixth zesde sechste sechsten|seventh zevende siebte siebten|eighth achtste achte achten|ninth negende neunte neunten"
    "|tenth tiende zehnte zehnten|eleventh elfde elfte elften|twelfth twaalfde zwölfte zwölften",
    1,
)
ORDINAL = "th"
"""The unit of what is counted in order."""

_UNIT_GROUPS: Mapping[str, str] = {
    "day": "day days dag dagen tag tage tagen workday workdays werkdag werkdagen werktag werktage werktagen "
    "arbeitstag arbeitstage arbeitstagen kalenderdagen kalendertage vakantiedagen verlofdagen urlaubstage "
    "día días jour jours",
    "week": "week weeks weken woche wochen semana semanas semaine semaines",
    "month": "month months maand maanden monat monate monaten mes meses mois",
    "year": "year years jaar jaren jahr jahre jahren año años ans année années",
    "hour": "hour hours hr hrs uur uren stunde stunden h hora horas heure heures",
    "minute": "minute minutes min mins minuut minuten minuto minutos",
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

SMALLER: Mapping[str, tuple[tuple[str, float], ...]] = {
    "week": (("day", 7),),
    "year": (("month", 12), ("week", 52), ("day", 365)),
    "day": (("hour", 24),),
    "hour": (("minute", 60),),
    "minute": (("second", 60),),
}
"""How many of other units one is: "two weeks" is 14 days."""

TIME_UNITS = frozenset({"day", "week", "month", "year", "hour", "minute", "second", "night"})
RATE_WORDS = frozenset(
    {"a", "an", "per", "each", "every", "pro", "je", "jede", "jeden", "elke", "ieder", "/"}
)

LISTED_THINGS = word_set(
    "steps options ways things parts kinds reasons cases points factors categories methods scenarios aspects "
    "stappen opties manieren dingen onderdelen soorten redenen gevallen punten mogelijkheden "
    "schritte schritten optionen möglichkeiten wege wegen dinge arten gründe gründen fälle fällen punkte punkten teile "
    "pasos opciones maneras formas cosas partes tipos motivos razones casos puntos "
    "étapes façons manières choses parties types raisons cas"
)
"""What an answer counts before it lists it."""

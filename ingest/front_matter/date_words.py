"""Words of dates and periods in the five languages of `kb/languages`, folded: lower case, without accents.

A table of their own: a parser's process would need half a second to load the lexicons, which know no French or Spanish
abbreviations. dateparser (BSD-3, 12 MB with what it needs, 0.6 s and 21 MB until its first date) was left out: it reads
03/04/2025 as one of its two days and "2 days ago" as a day, and knows neither quarters nor weeks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping


def folded(text: str) -> str:
    """ "1º Août" -> "1o aout"."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in plain if not unicodedata.combining(character))


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbered(*lines: str) -> Mapping[str, int]:
    return {word: at for at, line in enumerate(lines, 1) for word in line.split()}


MONTHS = _numbered(
    "january jan januari januar janner jaenner janvier janv enero ene",
    "february feb februari februar feber fevrier fevr fev febrero",
    "march mar maart mrt marz maerz mrz mars marzo",
    "april apr avril avr abril abr",
    "may mei mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug augustus aout agosto ago",
    "september sept sep septembre septiembre setiembre set",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez decembre diciembre dic",
)
WEEKDAYS = words("""
    monday mon maandag ma montag mo lundi lun lunes
    tuesday tue tues dinsdag di dienstag mardi martes
    wednesday wed woensdag wo wo mittwoch mi mercredi mer miercoles mie
    thursday thu thur thurs donderdag do donnerstag jeudi jeu jueves jue
    friday fri vrijdag vr freitag fr vendredi ven viernes vie
    saturday sat zaterdag za samstag sonnabend sa samedi sam sabado sab
    sunday sun zondag zo sonntag so dimanche dim domingo dom
    """)
FILLERS = words("of the de het la le el en del den der dem des du on am in van von anno d l since sinds seit")
QUARTER = words("q quarter quarters qtr t kwartaal quartal trimestre trim trimester")
HALF = words("h half halfjaar helft halbjahr halfte semestre semester")
WEEK = words("w wk week kw kalenderwoche woche semaine sem semana")
ORDINALS = _numbered(
    "first eerste erstes erste ersten premier premiere primer primero primera",
    "second tweede zweites zweite zweiten deuxieme seconde segundo segunda",
    "third derde drittes dritte dritten troisieme tercer tercero tercera",
    "fourth vierde viertes vierte vierten quatrieme cuarto cuarta",
)
_ORDINAL_ENDINGS = r"(?:st|nd|rd|th|er|re|e|eme|ste|de|o|a)"
NUMBER = re.compile(rf"(?P<late>')?(?P<digits>\d+)(?:{_ORDINAL_ENDINGS}(?![a-z]))?")

UNITS: Mapping[str, str] = {
    word: unit
    for unit, listed in {
        "days": "d day days dag dagen tag tage tagen jour jours dia dias",
        "weeks": "w week weeks weken woche wochen semaine semaines semana semanas",
        "months": "m mo month months maand maanden monat monate monaten mois mes meses",
        "quarters": "quarter quarters kwartaal kwartalen quartal quartale trimestre trimestres",
        "halves": "halfjaar halbjahr semestre semestres",
        "years": "y yr year years jaar jaren jahr jahre jahren an ans annee annees ano anos",
    }.items()
    for word in listed.split()
}
EVERY: Mapping[str, str] = {
    word: unit
    for unit, listed in {
        "weeks": "weekly wekelijks wochentlich hebdomadaire semanal semanalmente",
        "months": "monthly maandelijks monatlich mensuel mensuelle mensual mensualmente",
        "quarters": "quarterly kwartaals vierteljahrlich quartalsweise trimestriel trimestrielle trimestral",
        "halves": "halfyearly semiannual semiannually halfjaarlijks halbjahrlich semestriel semestrielle semestral",
        "years": "yearly annual annually jaarlijks jahrlich annuel annuelle annuellement anual anualmente",
    }.items()
    for word in listed.split()
}
ONE = words("a an one een ein eine einen einem un une uno una")
EACH = words(
    "every each elke elk iedere ieder om de alle jede jeden jedes tous toutes les chaque cada after na nach"
)

"""For whom, where and what kind a statement holds: "part-time", "abroad", "premium", "sick leave".

Two statements whose scopes differ do not contradict one another, however alike they are. A class holds words that
exclude one another: a statement about one of them says nothing about another, and the rule for all nothing about one.
"""

from __future__ import annotations

from collections.abc import Iterable

from kb.text.wording import tokens

_CLASSES = (
    "!part-time parttime deeltijd teilzeit|full-time fulltime voltijd vollzeit",
    "employee staff colleague medewerker werknemer personeel mitarbeiter|!contractor freelancer zzp freiberufler"
    "|!intern trainee apprentice stagiair stagiaire praktikant azubi werkstudent|!manager executive director"
    " leidinggevende führungskraft|!visitor guest bezoeker gast|!volunteer vrijwilliger|!temporary temp tijdelijk"
    " befristet|!probation proeftijd probezeit|customer client klant kunde|!supplier vendor leverancier lieferant"
    "|!partner reseller|!student pupil|!teacher docent|adult volwassene erwachsene|!child children kind kinder"
    "|!senior pensioner|member lid mitglied|!nurse|!doctor|patient|!driver chauffeur fahrer",
    "standard standaard|!basic basis starter|!plus|!professional|!premium|!business|!enterprise|!gold|!silver"
    "|!bronze|!trial",
    "production productie produktion|!staging acceptance acceptatie|!development|!sandbox",
    "internal|!external extern",
    "domestic inland binnenland|!international abroad overseas foreign buitenland ausland|!europe european eu",
    "hotel|breakfast ontbijt frühstück|lunch mittagessen|dinner diner abendessen|flight vlucht flug|train trein bahn zug"
    "|car auto pkw|!bicycle bike cycle fiets fahrrad|!motorcycle motor motorrad|taxi|parking parkeren parken|bus|tram",
    "weekday werkdag werktag|!weekend wochenende saturday sunday zaterdag zondag samstag sonntag"
    "|!holiday-season christmas kerst weihnachten",
    "summer zomer sommer|winter|spring|autumn herfst herbst",
    "holiday vacation annual vakantie urlaub|!sick sickness illness ziek krank|!parental ouderschap elternzeit"
    "|!maternity zwangerschap mutterschutz|!paternity|!unpaid onbetaald unbezahlt|!study|!sabbatical"
    "|!bereavement rouw trauer|!adoption",
    "gross bruto brutto|net netto",
    "online web webshop|store shop winkel laden filiale",
    "email e-mail mail|phone telephone telefoon telefon|chat|letter post brief",
    "laptop notebook|smartphone mobile handy|monitor screen display|tablet ipad|desktop|keyboard|headset|printer",
    "new nieuw neu|!used refurbished tweedehands gebraucht",
    "upload|download",
    "read|write",
    "inbound incoming|outbound outgoing",
    "first eerste erste initial|second tweede zweite|third derde dritte|last laatste letzte final",
    "small klein|!medium|large groot groß",
    "single|!double|!triple",
    "normal|!critical|!high|!low|!urgent spoed express emergency",
    "backup back-up|log|audit",
    "password wachtwoord passwort|session|token|certificate certificaat zertifikat",
    "!admin administrator beheerder|user gebruiker nutzer|owner eigenaar",
    "create|delete|update|restore",
    "buy purchase koop kauf|!rent lease huur miete",
    "refund|!exchange ruilen umtausch|!repair reparatie reparatur|return retour",
    "north|south|east|west",
    "complaint klacht beschwerde|!appeal",
    "!carry carried carrying rollover meenemen overdragen übertragen",
    "!netherlands dutch holland nederland nederlandse niederlande|!germany german deutschland duitsland duitse deutsche"
    "|!belgium belgian belgië belgische belgien|!france french frankrijk frankreich|!uk britain british england"
    " kingdom scotland wales|!ireland irish ierland irland|!spain spanish spanje spanien|!italy italian italië italien"
    "|!portugal portuguese|!austria austrian oostenrijk österreich|!switzerland swiss zwitserland schweiz"
    "|!poland polen|!sweden swedish zweden schweden|!norway norwegian noorwegen norwegen"
    "|!denmark danish denemarken dänemark|!finland finnish finnland|!usa american america|!canada canadian"
    "|!mexico|!brazil brazilië brasilien|!india indian indien|!china chinese|!japan japanese|!australia australian"
    "|!singapore|!ukraine|!turkey turkish turkije türkei|!greece greek|!luxembourg luxemburg|!czech|!hungary|!romania"
    "|!israel|!dubai emirates|!kenya|!nigeria|!egypt|!korea|!indonesia|!vietnam|!thailand|!africa|!asia|!zealand",
)
"""Members are separated by "|", their synonyms by spaces. "!" marks a special case: the rule for all says nothing of it."""

_PLURALS = ("s", "es", "n", "en")
_NO_PLURAL = frozenset(
    {"basic", "plus", "pro", "standard", "gold", "silver", "new", "first", "last", "final"}
)
_OF: dict[str, frozenset[tuple[int, int]]] = {}
_SPECIAL: set[tuple[int, int]] = set()
for _at, _listed in enumerate(_CLASSES):
    for _member, _synonyms in enumerate(_listed.split("|")):
        if _synonyms.startswith("!"):
            _SPECIAL.add((_at, _member))
        for _word in _synonyms.removeprefix("!").split():
            for _form in (_word, *(f"{_word}{ending}" for ending in _PLURALS if _word not in _NO_PLURAL)):
                _OF[_form] = _OF.get(_form, frozenset()) | {(_at, _member)}

_ROLES = frozenset(
    place
    for word in ("supplier", "partner", "manager", "visitor", "teacher", "nurse", "doctor", "driver", "admin")
    for place in _OF[word]
)

Scope = dict[int, frozenset[int]]


def scope_of(words: Iterable[str]) -> Scope:
    """Class -> the members that the words name."""
    found: dict[int, set[int]] = {}
    for word in words:
        for kind, member in _OF.get(word.casefold(), ()):
            found.setdefault(kind, set()).add(member)
    return {kind: frozenset(members) for kind, members in found.items()}


def read_scope(text: str, context: str) -> Scope:
    """The scope of a sentence: its own words, and those of its headings where they name one member of a class.

    Who a page is for by its headings ("For suppliers") says little of each of its sentences: roles count in these only.
    """
    own = scope_of(_words(text))
    around = {kind: members for kind, members in scope_of(_words(context)).items() if len(members) == 1}
    telling = {
        kind: members for kind, members in around.items() if kind in own or not _is_role(kind, members)
    }
    return {**telling, **own}


def _is_role(kind: int, members: frozenset[int]) -> bool:
    return any((kind, member) in _ROLES for member in members)


def scopes_differ(one: Scope, other: Scope) -> bool:
    """Whether they name different members of a class, or only one of them a special case."""
    return any(
        _differ(kind, one.get(kind, _NONE), other.get(kind, _NONE)) for kind in one.keys() | other.keys()
    )


_NONE: frozenset[int] = frozenset()


def _differ(kind: int, one: frozenset[int], other: frozenset[int]) -> bool:
    if one and other:
        return one != other
    return any((kind, member) in _SPECIAL for member in one | other)


def _words(text: str) -> list[str]:
    return [part for token in tokens(text) for part in {token, *token.split("-")}]

"""The words of yes and no in English, Dutch, German, Spanish and French: negators, limits, and pairs of opposites."""

from __future__ import annotations

import re

from kb.text.wording import stem, word_set

FORBIDDEN = word_set(
    "forbidden forbid forbids prohibited prohibit prohibits banned prevent prevents preventing prevented"
)
"""What denies the deed behind its "from"."""
NEGATORS = FORBIDDEN | word_set(
    "not cannot no never none neither nor nobody nothing nowhere without unable excluding excluded exclude excludes "
    "impossible avoid avoids avoiding lack lacks lacking unnecessary optional exempt "
    "reject rejects rejected refuse refuses refused decline declines declined deny denied "
    "vermijd vermijden niet geen nooit niemand niets nergens zonder noch evenmin verboden uitgezonderd uitgesloten "
    "afgewezen geweigerd onnodig onmogelijk optioneel facultatief "
    "vermeiden nicht kein keine keinen keiner keinem keines nie niemals niemand nichts nirgends ohne weder untersagt "
    "abgelehnt ausgeschlossen unzulässig unmöglich unnötig optional entfällt "
    "nunca jamás ningún ninguna ninguno nadie nada sin tampoco prohibido prohibida imposible opcional "
    "pas jamais aucun aucune rien sans interdit interdite impossible facultatif facultative"
)
FROM = word_set("from")
EXCEPT = word_set("except unless behalve tenzij außer excepto salvo sauf")
"""After a "not" they allow, after a statement they forbid."""
WITHOUT = word_set("without zonder ohne sin sans")
NONE = WITHOUT | word_set("no geen kein keine keinen keiner keinem keines ningún ninguna aucun aucune")
"""What stands before a noun, or before its adjective."""
NOR = word_set("nor noch ni")
ONLY = word_set(
    "only just alone solely exclusively alleen slechts enkel uitsluitend nur lediglich ausschließlich allein solo "
    "solamente únicamente seulement uniquement except unless"
)
"""What they allow they deny of everything else."""
MODAL = frozenset(
    stem(word)
    for word in word_set(
        "allowed permitted possible able required needed necessary need needs obliged mandatory obligatory compulsory "
        "shorter longer higher larger smaller older younger greater fewer less more require requires have yet even gar überhaupt helemaal  ever longer also still "
        "toegestaan mogelijk nodig noodzakelijk verplicht vereist hoeft hoeven hoef kun kunt meer wel meetellen "
        "erlaubt gestattet zulässig möglich erforderlich nötig notwendig verpflichtet braucht brauchen darfst mehr "
        "jedoch mehr allerdings permitido posible necesario obligatorio puede pueden debe deben "
        "permis possible nécessaire obligatoire peut peuvent doit doivent"
    )
)
"""Whether it may or must be says nothing of what it is: what is denied is the rest of the clause."""
LIGHT = frozenset(
    stem(word)
    for word in word_set(
        "think believe denken denkt glauben receive receives take takes make makes made come comes go goes "
        "prior previous advance voorafgaande vorherige "
        "krijg krijgen ontvang ontvangt ontvangen geef geven neem nemen maak maken bekommen bekommt erhalten erhält "
        "blijf blijft blijven bleibt bleiben gaan gaat hoef geben gibt nehmen machen gilt"
    )
)
"""Words that lend their sense from the next one: "take leave", "prior approval"."""

MODAL_ALONE = word_set(
    "allowed permitted possible required needed necessary mandatory obligatory compulsory "
    "toegestaan mogelijk nodig noodzakelijk verplicht vereist erlaubt gestattet zulässig möglich erforderlich nötig "
    "notwendig permitido posible necesario obligatorio permis possible nécessaire obligatoire"
)
"""What denies its subject ("smoking is not allowed"), and what follows only behind an infinitive's "to"."""
TO = word_set("to te om zu de a à")
RATHER_THAN = re.compile(
    r"\b(?:rather than|instead of|as opposed to|anstatt|anstelle von|in plaats van|en lugar de|au lieu de)\b",
    re.IGNORECASE,
)
NOTHING_BUT = re.compile(
    r"\b(?:nothing|nowhere|none|nobody|niets|nergens|niemand|nichts|nirgends|nada|nadie|rien|personne)"
    r" (?:else |anders |anderes )?(?:but|except|other than|than|dan|behalve|als|außer|sino|sauf)\b",
    re.IGNORECASE,
)
"""Says "only"."""
NO_ONE = re.compile(r"\bno one\b", re.IGNORECASE)

DENIED_LIMIT = re.compile(
    r"\b(?:not|never|nobody|cannot|\w+n't|niet|geen|nooit|niemand|nicht|kein\w*|nie|niemand)\b"
    r"(?P<between>(?: [^\s,;:.!?()]+){1,6}) (?P<side>more|longer|later|higher|fewer|less|meer|langer|later|hoger|minder"
    r"|mehr|länger|später|höher|weniger) (?P<than>than|dan|als)\b",
    re.IGNORECASE,
)
"""The "nobody" of "nobody stays for more than three days": it is the limit that is denied, not the staying."""
NO_BEFORE = {"than": "no", "dan": "niet", "als": "nicht"}
HARMLESS = re.compile(
    r"\b(?:not|niet|nicht) (?:only|just|alleen|nur)\b"
    r"|\b(?:no|not(?: \w+)?) (?:more|less|\w{3,}er) than\b"
    r"|\bno matter\b|\b(?:costs?|charges?|kosten|kost|kosten|kostet|cuestan?|coûtent?) (?:nothing|niets|nichts|nada|rien)\b"
    r"|\bniet (?:meer|\w{3,}er) dan\b"
    r"|\bnicht (?:mehr|\w{3,}er) als\b"
    r"|\bno (?:más|menos) (?:tarde )?de\b|\bpas plus (?:tard )?(?:de|que)\b|\bno sólo\b|\bpas seulement\b"
    r"|\bwhether or not\b|\bal dan niet\b|\bto avoid\b|\bte vermijden\b|\bzu vermeiden\b"
    r"|^\W*(?:yes|no|ja|nee|nein|sí|oui|non)\b[,.:]",
    re.IGNORECASE,
)
"""A limit ("no later than") or an answer word ("No, ..."): no negation of what follows."""
CLAUSE = re.compile(
    r"[,;:!?()\n|]+|\.(?![a-z0-9])|\b(?:but|however|because|since|while|although|even though|if|when|once|so|as long as|provided"
    r"|maar|omdat|want|terwijl|hoewel|als|mits"
    r"|aber|sondern|weil|denn|während|obwohl|wenn|solange|sofern"
    r"|pero|porque|aunque|cuando|mais|parce que|quand|lorsque)\b",
    re.IGNORECASE,
)

CONDITION = re.compile(
    r"\b(?:if|when|unless|in case|als|indien|wanneer|wenn|falls|sofern|si|cuando|quand)\b", re.IGNORECASE
)
OR = {"en": "or", "nl": "of", "de": "oder", "es": "o", "fr": "ou"}
_OR = {"en": "or|nor", "nl": "of|noch", "de": "oder", "es": "o|u|ni", "fr": "ou|ni"}
LISTED = {language: re.compile(rf"\s*,\s*|\b(?:{words})\b", re.IGNORECASE) for language, words in _OR.items()}
"""What parts the items of a list of alternatives, by language: "of" is Dutch for "or"."""
LIST_COMMA = {
    language: re.compile(rf",(?=(?:\s+[^\s,;:.!?()]+){{1,5}},?\s+(?:{words})\s)", re.IGNORECASE)
    for language, words in _OR.items()
}
"""A comma within such a list."""

_OPPOSITES = (
    "continue continues continued|stop stops stopped cease ceases discontinue",
    "doorgaan doorlopen loopt|stoppen stopt gestopt",
    "same equal identical hetzelfde dezelfde zelfde gleiche gleichen gleicher derselbe dieselbe mismo misma"
    "|different differing ander andere verschillend verschillende anderes anderen anderer unterschiedlich unterschiedliche",
    "include includes included including covers cover inclusief inbegrepen inklusive incluye|exclusief exklusive excluye",
    "open opened opens geöffnet abierto abierta ouvert ouverte"
    "|closed close closes shut gesloten dicht geschlossen cerrado cerrada fermé fermée",
    "increase increases increased raise raised erhöht verhoogd|decrease decreases decreased reduce reduced gesenkt verlaagd",
    "enable enabled enables activate activated aktiviert ingeschakeld"
    "|disable disabled disables deactivate deactivated deaktiviert uitgeschakeld",
    "internal interne interner intern|external externe externer extern",
    "public openbaar öffentlich|private privé privat confidential vertrouwelijk vertraulich",
    "temporary tijdelijk tijdelijke befristet|permanent permanente unbefristet vaste",
    "manual manually handmatig manuell|automatic automatically automatisch automatische",
    "win wins|lose loses",
    "oldest|newest",
    "first|last",
    "maximum|minimum",
    "success succeed succeeds|failure fail fails failed",
    "safe|dangerous unsafe",
    "remember|forget",
    "voluntary vrijwillig freiwillig|mandatory compulsory verplicht",
)


def _signed() -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for pair in _OPPOSITES:
        yes, no = pair.split("|")
        concept = stem(yes.split()[0])
        found |= {stem(word): (concept, 1) for word in yes.split()} | {
            stem(word): (concept, -1) for word in no.split()
        }
    return found


OPPOSITES = _signed()
"""Stem -> the concept that it speaks of, and whether it says yes (1) or no (-1) to that."""

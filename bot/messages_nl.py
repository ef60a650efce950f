"""Dutch. The keys are the fields of `bot.messages.Messages`."""

from __future__ import annotations

from typing import Any

DUTCH: dict[str, Any] = {
    "searching": "Zoeken in de kennisbank…",
    "interpreted_as": "Opgevat als: _{query}_",
    "declined": "Ik kon dit niet vinden in de kennisbank.",
    "nearest": "Het dichtst in de buurt komen: {pages}.",
    "ask_better": "Noem het product, het team of de regel die je bedoelt, of vraag het de eigenaar van een van deze pagina's.",
    "ask_better_alone": "Probeer andere woorden, of noem het product, het team of de regel die je bedoelt.",
    "unclear": "Ik weet niet zeker waar je op doelt. Kun je het als hele vraag stellen?",
    "unavailable": (
        "Ik kan de kennisbank nu niet bereiken en weet dus niet of het erin staat. "
        "Vraag het over een paar minuten opnieuw."
    ),
    "greeting": "Hallo! Stel me een vraag, dan zoek ik het op in de kennisbank.",
    "thanks": "Graag gedaan!",
    "who_are_you": "Ik ben Footnote. Ik beantwoord vragen uit de kennisbank en noem bij elke zin de pagina.",
    "goodbye": "Tot ziens!",
    "help": (
        "Stel me een vraag in één zin, bijvoorbeeld: _Hoeveel vakantiedagen heb ik?_ "
        "Ik antwoord uit de kennisbank en noem de pagina's. In deze thread kun je doorvragen zonder mij te noemen."
    ),
    "failed": "Sorry, er ging iets mis bij het beantwoorden. Het is genoteerd als {question_id}; vraag het nog eens.",
    "not_in_channel": "Ik kan niet in {channel} schrijven, want ik zit er niet in. Nodig me daar uit en vraag het opnieuw.",
    "shortened": "Dit is ingekort. Vraag naar de rest, of open de bronnen.",
    "review_overdue": "*{title}* had op {date} nagekeken moeten worden ({ago}).",
    "expired": "*{title}* is op {date} verlopen ({ago}).",
    "old_review": "*{title}* is op {date} voor het laatst nagekeken ({ago}).",
    "old_edit": "*{title}* is op {date} voor het laatst bewerkt ({ago}).",
    "superseded": "*{title}* is vervangen door {successor}.",
    "conflict": "*{title}* zegt iets anders dan een nieuwere pagina.",
    "undated_warning": "*{title}* heeft geen datum; controleer de inhoud voordat je erop vertrouwt.",
    "owner": "Eigenaar: {owner}.",
    "sources": "Bronnen",
    "reviewed": "nagekeken {date}",
    "edited": "bewerkt {date}",
    "outdated": "verouderd",
    "replaced": "vervangen",
    "undated": "geen datum",
    "note_extractive": "Zonder taalmodel: dit zijn citaten uit de pagina's.",
    "note_model_unavailable": "Het taalmodel is niet bereikbaar: dit zijn citaten uit de pagina's.",
    "note_model_refused": "Het taalmodel wilde niet antwoorden: dit zijn citaten uit de pagina's.",
    "note_reranker": "De herrangschikking staat uit; de volgorde van de bronnen is minder precies.",
    "note_history": "De geschiedenis van deze thread is niet bereikbaar; ik heb haar uit Slack gelezen.",
    "helpful": "Dit antwoord hielp",
    "not_helpful": "Dit antwoord hielp niet",
    "why": "Waarom dit antwoord?",
    "thanks_up": "Dank je! Genoteerd dat dit antwoord hielp.",
    "thanks_down": "Dank je! Genoteerd wat er niet klopte.",
    "feedback_title": "Wat klopte er niet?",
    "feedback_reason": "Wat klopte er niet aan het antwoord?",
    "feedback_comment": "Wat had er moeten staan? (niet verplicht)",
    "reason_wrong": "Het is onjuist",
    "reason_outdated": "Het is verouderd",
    "reason_incomplete": "Er ontbreekt iets",
    "reason_other_question": "Het beantwoordt een andere vraag",
    "send": "Versturen",
    "close": "Sluiten",
    "feedback_failed": "Sorry, je reactie kon nu niet worden opgeslagen.",
    "why_gone": "Ik heb de details van dit antwoord niet meer.",
    "why_question": "Vraag",
    "why_searched": "Gezocht op",
    "why_unchanged": "de vraag zoals ze gesteld is",
    "why_method": "Herschreven door",
    "why_topics": "Onderwerpen van de thread",
    "why_follow_up": "Vervolg op het vorige antwoord",
    "why_anchors": "Pagina's met voorrang omdat de thread erover gaat",
    "why_decision": "Uitkomst",
    "why_confidence": "zekerheid {percent}",
    "why_passages": "Gevonden passages",
    "why_scores": "betekenis {dense} · woorden {lexical} · samen {fused} · thread {anchor} · herlezen {rerank} · eind {final}",
    "why_removed": "Zinnen die vervielen omdat geen pagina ze ondersteunt",
    "why_notes": "Opmerkingen",
    "why_timings": "Tijden",
    "yes": "ja",
    "no": "nee",
    "none": "geen",
    "not_admin": "Sorry, dat kunnen alleen beheerders. Vraag een beheerder van je workspace, of om op de lijst van Footnote te komen.",
    "usage": (
        "• `{command} reindex [bron] [--full]` leest de pagina's opnieuw; `--full` bouwt alles opnieuw op naast de huidige index\n"
        "• `{command} status` laat zien hoe het met Footnote gaat\n"
        "• `{command} stats` laat zien hoe het gebruikt wordt\n"
        "• `{command} sources` noemt de bronnen\n"
        "• `{command} help` toont dit"
    ),
    "unknown_command": "`{word}` ken ik niet. Wat ik ken:",
    "unknown_source": "Er is geen bron `{source}`. Er zijn: {sources}.",
    "no_sources": "Er zijn geen bronnen ingesteld.",
    "everything": "alle bronnen",
    "reindex_started": "{what} wordt opnieuw geïndexeerd; je kunt het hieronder volgen.",
    "reindex_by_dm": "{what} wordt opnieuw geïndexeerd. Ik zit niet in dit kanaal en toon de voortgang in een privébericht.",
    "reindex_joined": "Er loopt al een herindexering; dit bericht volgt die.",
    "reindexing": "Opnieuw indexeren: {what} {bar} {percent} · {done} van {total} pagina's",
    "reindex_queued": "Opnieuw indexeren: {what}, wacht op de start",
    "reindex_reading": "Opnieuw indexeren: {what}, pagina's lezen",
    "reindex_swapping": "Opnieuw indexeren: {what}, overgaan op de nieuwe index",
    "about_left": "nog ongeveer {time}",
    "reindex_done": "Klaar in {time}: {added} toegevoegd, {changed} gewijzigd, {removed} verwijderd, {unchanged} ongewijzigd, {failed} mislukt",
    "reindex_failed": "Sorry, het opnieuw indexeren van {what} is mislukt. De index is zoals hij was. De reden staat in het logboek van Footnote.",
    "command_failed": "Sorry, dat is niet gelukt. Het is genoteerd.",
    "status_pages": "Pagina's in de index: {pages} ({passages} passages)",
    "status_index_down": "De index antwoordt niet",
    "status_waiting": "Wachtende vragen: {number}",
    "status_store_down": "De opslag van gesprekken antwoordt niet",
    "status_model": "Antwoorden worden geschreven door {model}",
    "status_extractive": "Geen taalmodel: antwoorden zijn citaten uit de pagina's",
    "status_reranker_on": "De herrangschikking staat aan",
    "status_reranker_off": "De herrangschikking staat uit",
    "status_last_event": "Laatste gebeurtenis uit Slack: {ago}",
    "status_no_event": "Nog geen gebeurtenis uit Slack",
    "status_last_sync": "Laatst geïndexeerd: {ago}",
    "stats_questions": "Vragen: {number}",
    "stats_rewritten": "Herschreven: {number} ({percent}), gemiddeld {mean} ms",
    "stats_feedback": "Reacties: {up} nuttig, {down} niet nuttig",
    "stats_satisfaction": "Tevredenheid: {percent}",
    "stats_outcome": "{outcome}: {number}",
    "just_now": "zojuist",
    "home_title": "Footnote antwoordt uit jullie eigen pagina's",
    "home_what": (
        "Noem me in een kanaal met een vraag, of schrijf me rechtstreeks. Ik antwoord in de thread, noem bij elke zin "
        "de pagina en waarschuw als een pagina verouderd is."
    ),
    "home_how": (
        "• Vraag in hele zinnen: _{bot} Hoeveel vakantiedagen heb ik?_\n"
        "• Vraag in de thread door zonder mij te noemen: _en wanneer vervallen ze?_\n"
        "• Verbeter je bericht, dan verbeter ik mijn antwoord\n"
        "• Laat met 👍 of 👎 weten of een antwoord hielp"
    ),
    "home_how_title": "Hoe je vraagt",
    "home_stats_title": "Hoe het gebruikt wordt",
    "ago": "{time} geleden",
    "second": ("{n} s", "{n} s"),
    "minute": ("{n} min", "{n} min"),
    "hour": ("{n} uur", "{n} uur"),
    "day": ("{n} dag", "{n} dagen"),
    "month": ("{n} maand", "{n} maanden"),
    "year": ("{n} jaar", "{n} jaar"),
    "months": (
        "januari", "februari", "maart", "april", "mei", "juni",
        "juli", "augustus", "september", "oktober", "november", "december",
    ),
    "date_form": "{day} {month} {year}",
    "thousands": ".",
    "percent_form": "{n}%",
}  # fmt: skip

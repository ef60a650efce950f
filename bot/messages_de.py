"""German. The keys are the fields of `bot.messages.Messages`."""

from __future__ import annotations

from typing import Any

GERMAN: dict[str, Any] = {
    "searching": "Ich suche in der Wissensdatenbank…",
    "interpreted_as": "Verstanden als: _{query}_",
    "declined": "Das konnte ich in der Wissensdatenbank nicht finden.",
    "nearest": "Am nächsten kommen: {pages}.",
    "ask_better": "Nenne das Produkt, das Team oder die Regel, die du meinst, oder frage den Eigentümer einer dieser Seiten.",
    "ask_better_alone": "Versuche andere Wörter, oder nenne das Produkt, das Team oder die Regel, die du meinst.",
    "unclear": "Ich bin nicht sicher, worauf du dich beziehst. Kannst du es als ganze Frage stellen?",
    "unavailable": (
        "Ich erreiche die Wissensdatenbank gerade nicht und weiß deshalb nicht, ob es darin steht. "
        "Bitte frage in ein paar Minuten noch einmal."
    ),
    "greeting": "Hallo! Stelle mir eine Frage, dann schlage ich in der Wissensdatenbank nach.",
    "thanks": "Gern geschehen!",
    "who_are_you": "Ich bin Footnote. Ich beantworte Fragen aus der Wissensdatenbank und nenne zu jedem Satz die Seite.",
    "goodbye": "Auf Wiedersehen!",
    "help": (
        "Stelle mir eine Frage in einem Satz, zum Beispiel: _Wie viele Urlaubstage habe ich?_ "
        "Ich antworte aus der Wissensdatenbank und nenne die Seiten. In diesem Thread kannst du ohne Erwähnung weiterfragen."
    ),
    "failed": "Entschuldigung, beim Beantworten ist etwas schiefgegangen. Es ist als {question_id} vermerkt; bitte frage noch einmal.",
    "not_in_channel": "Ich kann in {channel} nicht schreiben, weil ich nicht dabei bin. Lade mich ein und frage noch einmal, bitte.",
    "shortened": "Das ist gekürzt. Frage nach dem Rest, oder öffne die Quellen.",
    "review_overdue": "*{title}* hätte am {date} überprüft werden sollen ({ago}).",
    "expired": "*{title}* ist am {date} abgelaufen ({ago}).",
    "old_review": "*{title}* wurde zuletzt am {date} überprüft ({ago}).",
    "old_edit": "*{title}* wurde zuletzt am {date} bearbeitet ({ago}).",
    "superseded": "*{title}* wurde ersetzt durch {successor}.",
    "conflict": "*{title}* sagt etwas anderes als eine neuere Seite.",
    "undated_warning": "*{title}* trägt kein Datum; prüfe den Inhalt, bevor du dich darauf verlässt.",
    "owner": "Eigentümer: {owner}.",
    "sources": "Quellen",
    "reviewed": "überprüft {date}",
    "edited": "bearbeitet {date}",
    "outdated": "veraltet",
    "replaced": "ersetzt",
    "undated": "ohne Datum",
    "note_extractive": "Ohne Sprachmodell: das sind Zitate aus den Seiten.",
    "note_model_unavailable": "Das Sprachmodell ist nicht erreichbar: das sind Zitate aus den Seiten.",
    "note_model_refused": "Das Sprachmodell wollte nicht antworten: das sind Zitate aus den Seiten.",
    "note_reranker": "Die Nachsortierung ist aus; die Reihenfolge der Quellen ist weniger genau.",
    "note_history": "Der Verlauf dieses Threads ist nicht erreichbar; ich habe ihn aus Slack gelesen.",
    "helpful": "Diese Antwort hat geholfen",
    "not_helpful": "Diese Antwort hat nicht geholfen",
    "why": "Warum diese Antwort?",
    "thanks_up": "Danke! Vermerkt, dass diese Antwort geholfen hat.",
    "thanks_down": "Danke! Vermerkt, was nicht stimmte.",
    "feedback_title": "Was stimmte nicht?",
    "feedback_reason": "Was stimmte an der Antwort nicht?",
    "feedback_comment": "Was hätte da stehen sollen? (freiwillig)",
    "reason_wrong": "Sie ist falsch",
    "reason_outdated": "Sie ist veraltet",
    "reason_incomplete": "Es fehlt etwas",
    "reason_other_question": "Sie beantwortet eine andere Frage",
    "send": "Senden",
    "close": "Schließen",
    "feedback_failed": "Entschuldigung, deine Rückmeldung konnte gerade nicht gespeichert werden.",
    "why_gone": "Ich habe die Einzelheiten dieser Antwort nicht mehr.",
    "why_question": "Frage",
    "why_searched": "Gesucht nach",
    "why_unchanged": "der Frage, wie sie gestellt wurde",
    "why_method": "Umformuliert durch",
    "why_topics": "Themen des Threads",
    "why_follow_up": "Fortsetzung der Antwort davor",
    "why_anchors": "Bevorzugte Seiten, weil der Thread von ihnen handelt",
    "why_decision": "Ergebnis",
    "why_confidence": "Sicherheit {percent}",
    "why_passages": "Gefundene Abschnitte",
    "why_scores": "Bedeutung {dense} · Wörter {lexical} · zusammen {fused} · Thread {anchor} · nachgelesen {rerank} · am Ende {final}",
    "why_removed": "Sätze, die entfielen, weil keine Seite sie stützt",
    "why_notes": "Hinweise",
    "why_timings": "Zeiten",
    "yes": "ja",
    "no": "nein",
    "none": "keine",
    "not_admin": "Entschuldigung, das können nur Admins. Frage einen Admin deines Workspace, oder lass dich in die Liste von Footnote aufnehmen.",
    "usage": (
        "• `{command} reindex [Quelle] [--full]` liest die Seiten neu ein; `--full` baut alles neben dem laufenden Index neu auf\n"
        "• `{command} status` zeigt, wie es Footnote geht\n"
        "• `{command} stats` zeigt, wie es genutzt wird\n"
        "• `{command} sources` nennt die Quellen\n"
        "• `{command} help` zeigt dies"
    ),
    "unknown_command": "`{word}` kenne ich nicht. Was ich kenne:",
    "unknown_source": "Es gibt keine Quelle `{source}`. Es gibt: {sources}.",
    "no_sources": "Es sind keine Quellen eingerichtet.",
    "everything": "alle Quellen",
    "reindex_started": "{what}: wird neu indexiert; unten kannst du es verfolgen.",
    "reindex_by_dm": "{what}: wird neu indexiert. Ich bin nicht in diesem Kanal und zeige den Fortschritt in einer Direktnachricht.",
    "reindex_joined": "Es läuft schon eine Neuindexierung; diese Nachricht folgt ihr.",
    "reindexing": "Neuindexierung: {what} {bar} {percent} · {done} von {total} Seiten",
    "reindex_queued": "Neuindexierung: {what}, wartet auf den Start",
    "reindex_reading": "Neuindexierung: {what}, Seiten werden gelesen",
    "reindex_swapping": "Neuindexierung: {what}, Wechsel auf den neuen Index",
    "about_left": "noch etwa {time}",
    "reindex_done": "Fertig in {time}: {added} hinzugefügt, {changed} geändert, {removed} entfernt, {unchanged} unverändert, {failed} fehlgeschlagen",
    "reindex_failed": "Entschuldigung, die Neuindexierung ({what}) ist fehlgeschlagen. Der Index ist, wie er war. Der Grund steht im Protokoll von Footnote.",
    "command_failed": "Entschuldigung, das hat nicht geklappt. Es ist vermerkt.",
    "status_pages": "Seiten im Index: {pages} ({passages} Abschnitte)",
    "status_index_down": "Der Index antwortet nicht",
    "status_waiting": "Wartende Fragen: {number}",
    "status_store_down": "Der Speicher der Gespräche antwortet nicht",
    "status_model": "Antworten schreibt {model}",
    "status_extractive": "Kein Sprachmodell: Antworten sind Zitate aus den Seiten",
    "status_reranker_on": "Die Nachsortierung ist an",
    "status_reranker_off": "Die Nachsortierung ist aus",
    "status_last_event": "Letztes Ereignis aus Slack: {ago}",
    "status_no_event": "Noch kein Ereignis aus Slack",
    "status_last_sync": "Zuletzt indexiert: {ago}",
    "stats_questions": "Fragen: {number}",
    "stats_rewritten": "Umformuliert: {number} ({percent}), im Mittel {mean} ms",
    "stats_feedback": "Rückmeldungen: {up} hilfreich, {down} nicht hilfreich",
    "stats_satisfaction": "Zufriedenheit: {percent}",
    "stats_outcome": "{outcome}: {number}",
    "just_now": "gerade eben",
    "home_title": "Footnote antwortet aus euren eigenen Seiten",
    "home_what": (
        "Erwähne mich in einem Kanal mit einer Frage, oder schreibe mir direkt. Ich antworte im Thread, nenne zu jedem "
        "Satz die Seite und warne, wenn eine Seite veraltet ist."
    ),
    "home_how": (
        "• Frage in ganzen Sätzen: _{bot} Wie viele Urlaubstage habe ich?_\n"
        "• Frage im Thread ohne Erwähnung weiter: _und wann verfallen sie?_\n"
        "• Verbessere deine Nachricht, dann verbessere ich meine Antwort\n"
        "• Sage mit 👍 oder 👎, ob eine Antwort geholfen hat"
    ),
    "home_how_title": "So fragst du",
    "home_stats_title": "So wird es genutzt",
    "ago": "vor {time}",
    "second": ("{n} s", "{n} s"),
    "minute": ("{n} min", "{n} min"),
    "hour": ("{n} Stunde", "{n} Stunden"),
    "day": ("{n} Tag", "{n} Tagen"),
    "month": ("{n} Monat", "{n} Monaten"),
    "year": ("{n} Jahr", "{n} Jahren"),
    "months": (
        "Januar", "Februar", "März", "April", "Mai", "Juni",
        "Juli", "August", "September", "Oktober", "November", "Dezember",
    ),
    "date_form": "{day}. {month} {year}",
    "thousands": ".",
    "percent_form": "{n} %",
}  # fmt: skip

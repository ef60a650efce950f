"""Every sentence that a person in Slack can see, in the reader's language.

English is written here, each other language in a module beside this one, named by its code (`nl.py`, `de.py`): its
`MESSAGES` is a plain mapping with the same keys. To add one, copy a file and translate; a test tells what is missing.
Braces are filled in with `str.format`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType

import bot.messages
from bot.messages.formats import Formats

DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True, kw_only=True, slots=True)
class Messages(Formats):
    searching: str = "Searching the knowledge base…"
    reading: tuple[str, str] = ("Reading {n} page…", "Reading {n} pages…")
    writing: str = "Writing the answer…"
    checking: str = "Checking the answer against the pages…"
    interpreted_as: str = "Interpreted as: _{query}_"

    declined: str = "I couldn't find this in the knowledge base."
    nearest: str = "The nearest pages are: {pages}."
    ask_better: str = "Try naming the product, team or rule you mean, or ask the owner of one of these pages."
    ask_better_alone: str = "Try other words, or name the product, team or rule you mean."
    unclear: str = "I'm not sure what you are referring to. Could you ask it as a full question?"
    unclear_readings: str = "Do you mean {readings}?"
    unavailable: str = (
        "I can't reach the knowledge base at the moment, so I can't say whether it is in there. "
        "Please ask again in a few minutes."
    )
    greeting: str = "Hello! Ask me a question, and I'll look it up in the knowledge base."
    thanks: str = "You're welcome!"
    who_are_you: str = (
        "I'm Footnote. I answer questions from the knowledge base and cite the page behind each sentence."
    )
    goodbye: str = "Goodbye!"
    help: str = (
        "Ask me a question in one sentence, for example: _How many days of holiday do I get?_ "
        "I answer from the knowledge base and cite the pages. In this thread you can go on without mentioning me."
    )
    failed: str = "Sorry, something went wrong while I was answering. It has been logged as {question_id}; please ask again."
    too_late: str = "Sorry, I couldn't answer this in time; please ask again."
    not_in_channel: str = (
        "I can't post in {channel}, because I'm not in it. Invite me there and ask again, please."
    )
    this_channel: str = "this channel"
    """In the place of a name that Slack does not tell, after "in"."""
    shortened: str = "This is shortened. Ask for the rest, or open the sources."

    says: str = "{page} says:"
    closest: str = "I found no direct answer. The closest is:"
    closest_declined: str = "I couldn't find this in the knowledge base. The closest page says:"
    nearest_others: str = "Other pages nearby: {pages}."
    unfound: str = "I found no direct answer to: {parts}"
    rows_shown: str = "{shown} of {total} rows; the page has them all."
    items_shown: str = "{shown} of {total} items; the page has them all."
    nothing_more: str = "That is all that the pages say about it."

    review_overdue: str = "*{title}* was due for review on {date} ({ago})."
    retired: str = "*{title}* is marked “{state}” by its author."
    expired: str = "*{title}* expired on {date} ({ago})."
    old_review: str = "*{title}* was last reviewed on {date} ({ago})."
    old_edit: str = "*{title}* was last edited on {date} ({ago})."
    several_due: str = "Overdue for review: {pages}."
    several_old: str = "Not reviewed or edited for long: {pages}."
    """`pages`: titles, each with its date in brackets."""
    superseded: str = "*{title}* has been replaced by {successor}."
    superseded_alone: str = "*{title}* has been replaced."
    older_version: str = "*{title}* has a later version: {successor}."
    conflict: str = "The pages disagree: {newer} and {older}. The newer one comes first."
    undated_warning: str = "*{title}* carries no date; check it before you rely on it."
    owner: str = "Owner: {owner}."

    sources: str = "Sources"
    reviewed: str = "reviewed {date}"
    edited: str = "edited {date}"
    outdated: str = "outdated"
    replaced: str = "replaced"
    undated: str = "no date"
    overdue_since: str = "review overdue since {date}"
    expired_on: str = "expired {date}"
    replaced_by: str = "replaced by {successor}"
    later_version: str = "later version: {successor}"
    owned: str = "owner: {owner}"

    note_extractive: str = "Quotes from the pages."
    note_model_unavailable: str = "The model is not reachable: these are quotes from the pages."
    note_model_refused: str = "The model declined to answer: these are quotes from the pages."
    note_pages_language: str = "The answer is in the language of its pages, not of your question."
    note_pages_in: str = "The pages are in {languages}."
    note_history: str = "I can't reach this thread's history, so I read it from Slack."
    note_thread: str = "I couldn't read what was written above in this thread."
    note_files: str = "I can't read attached files; paste the part you mean."
    question_deleted: str = "The question was deleted."
    sentences_removed: tuple[str, str] = (
        "One sentence removed: not on the page.",
        "{n} sentences removed: not on the page.",
    )

    helpful: str = "This answer helped"
    not_helpful: str = "This answer did not help"
    why: str = "Why this answer?"
    thanks_up: str = "Thank you! Noted that this answer helped."
    thanks_down: str = "Thank you! Noted what was wrong."
    feedback_title: str = "What was wrong?"
    feedback_reason: str = "What was wrong with the answer?"
    feedback_comment: str = "What should it have said?"
    reason_wrong: str = "It is wrong"
    reason_outdated: str = "It is out of date"
    reason_incomplete: str = "Something is missing"
    reason_other_question: str = "It answers another question"
    send: str = "Send"
    close: str = "Close"
    feedback_failed: str = "Sorry, your feedback could not be saved just now."

    why_gone: str = "I no longer have the details of this answer."
    why_question: str = "Question"
    why_searched: str = "Searched for"
    why_unchanged: str = "the question as it was asked"
    why_translated: str = "Searched for in the pages' language"
    why_method: str = "Rewritten by"
    why_lost: str = "The model's rewrite was not used"
    why_unsure: str = "sure to {percent}"
    why_topics: str = "Topics of the thread"
    why_follow_up: str = "Follow-up of the answer before"
    why_context: str = "Words of the thread that were searched along, and how much they counted"
    why_anchors: str = "Pages favoured because the thread is about them"
    why_rerank: str = "Reread by a cross-encoder"
    why_rerank_on: str = (
        "yes, {candidates} passages, its say is {weight}: of {samples} headings of these pages it put the right section "
        "higher ({before} without it, {after} with it; 100% is always first)"
    )
    why_rerank_off: str = (
        "no: of {samples} headings of these pages it did not put the right section higher for sure ({before} without it, "
        "{after} with it; 100% is always first), so no time is spent on it"
    )
    why_decision: str = "Outcome"
    why_confidence: str = "confidence {percent}"
    why_passages: str = "Passages found"
    why_scores: str = "meaning {dense} · words {lexical} · together {fused} · thread {anchor} · reread {rerank} · final {final}"
    why_freshness: str = "Freshness of the cited pages"
    why_removed: str = "Sentences removed because no page supports them"
    why_parts: str = "Asked in one"
    why_searches: str = "The model searched further for"
    why_judge: str = "Second check of the sentences"
    judge_off: str = "off; they were checked by the letter"
    judge_judged: str = "done: a model read each sentence beside what it cites"
    judge_late: str = "came too late; they were checked by the letter alone"
    judge_failed: str = "failed; they were checked by the letter alone"
    why_notes: str = "Notes"
    why_timings: str = "Timings"
    yes: str = "yes"
    no: str = "no"
    none: str = "none"

    because_mentioned: str = "You mentioned me."
    because_direct: str = "You asked me directly."
    because_shortcut: str = "You used my shortcut on a message."
    because_unasked: str = (
        "Nobody asked me, but in this channel I may answer questions without a mention, where I am very sure."
    )
    because_one_person: str = "This thread is between you and me."
    because_goes_on: str = "You went on after my last answer."
    because_answers_us: str = "You answered my question."
    because_everyone: str = "In this channel anybody can go on in a thread without mentioning me."
    why_spoke: str = "Why I answered"
    why_understood: str = "What I understood"
    why_looked: str = "What I searched"
    why_pages: str = "Which pages, and why these"
    why_sure: str = "How sure I am"
    why_details: str = "Details"
    understood_as_asked: str = "_{query}_, as you asked it."
    understood_rewritten: str = "_{query}_, with what was said before in this thread."
    understood_thread: str = "_{query}_, together with what this thread is about: {topics}."
    understood_parts: str = "Several questions in one: {parts}"
    looked_everywhere: str = (
        "All pages that may be read here, for the words of the question and for its meaning."
    )
    looked_along: str = "I looked for words of this thread as well: {words}."
    looked_translated: str = "I looked in the language of the pages as well: _{query}_"
    looked_further: str = "Then I looked further for: {queries}"
    found_by_both: str = "its words and its meaning fit the question"
    found_by_words: str = "its words fit the question"
    found_by_meaning: str = "its meaning fits the question"
    found_by_thread: str = "this thread is about its page"
    found_unused: str = "Also found, but not used: {pages}"
    sure_very: str = "Very sure that the pages answer this ({percent})."
    sure_fairly: str = "Fairly sure that the pages answer this ({percent})."
    sure_barely: str = (
        "Not very sure that the pages answer this ({percent}); read them before you rely on it."
    )
    sure_closest: str = "Not sure that the pages answer this ({percent}), so I showed what comes closest."
    sure_declined: str = "No page came near enough ({percent}), so I said that I couldn't find it."
    sure_unclear: str = "I wasn't sure what you meant, so I asked."

    not_admin: str = "Sorry, only admins can do that. Ask one of your workspace's admins, or to be added to Footnote's list."
    admin_unknown: str = "Slack does not tell me at the moment whether you are an admin, so I can't do that. Please try again in a few minutes."
    usage: str = (
        "• `{command} reindex [source] [--full] [--dry-run] [--force]` reads the pages anew; `--full` rebuilds everything beside the live index, `--dry-run` only tells what would change, `--force` also removes what a sync holds back\n"
        "• `{command} forget URL` takes a page out at once and keeps it out\n"
        "• `{command} status` shows how Footnote is doing\n"
        "• `{command} stats` shows how it is used\n"
        "• `{command} sources` lists the sources\n"
        "• `{command} gaps` lists what people asked and the pages do not answer\n"
        "• `{command} stale` lists pages that are out of date, the most cited first"
    )
    unknown_command: str = "I don't know `{word}`. What I know:"
    unknown_source: str = "There is no source `{source}`. There are: {sources}."
    no_sources: str = "No sources are configured."
    everything: str = "all sources"
    reindex_started: str = "Reindexing {what}; a message shows how far it is."
    progress_by_dm: str = "I'm not in this channel, so I show the progress in a direct message."
    reindex_joined: str = "A reindex is already under way; I follow that one."
    reindexing: str = "Reindexing {what} {bar} {percent} · {done} of {pages}"
    reindex_queued: str = "Reindexing {what}: waiting to start"
    reindex_reading: str = "Reindexing {what}: reading the pages"
    reindex_swapping: str = "Reindexing {what}: switching to the new index"
    about_left: str = "about {time} left"
    reindex_done: str = "Done in {time}: {counts} · {what}, asked by {person}"
    reindex_would: str = (
        "Looked in {time}, changed nothing. It would be: {counts} · {what}, asked by {person}"
    )
    reindex_refused: str = "Reindexing {what} was refused, and the index is as it was: {reason}. If that is right, `--force` overrules it."
    reindex_refused_openly: str = "Reindexing {what} was refused, and the index is as it was. If you know why and it is right, `--force` overrules it."
    reindex_doubts: str = "Looked wrong and was overruled: {number}"
    not_named: str = "{number} not named here"
    rest_by_dm: str = (
        "{person} has the rest in a direct message: here stands only what everybody in this channel may read."
    )
    reindex_failed: str = (
        "Sorry, reindexing {what} failed. The index is as it was before. The reason is in Footnote's log."
    )
    reindex_resumed: str = "I was restarted on the way: what I had read before counts as unchanged."
    reindex_cut_off: str = "Reindexing {what} was cut off when I was restarted, and does not go on. The index is whole; please ask for it again."
    forgotten: str = (
        "Forgotten: {pages}. It is no longer found, cited or quoted, and no reindex brings it back."
    )
    forget_unknown: str = "No page in the index has the address {address}."
    command_failed: str = "Sorry, that did not work. It has been logged."
    status_pages: str = "Pages in the index: {pages} ({passages})"
    status_index_down: str = "The index does not answer"
    status_waiting: str = "Questions waiting: {number}"
    status_dead_letters: str = (
        "Questions whose answers Slack does not take: {number} (`footnote dead-letters` says why)"
    )
    status_store_down: str = "The conversation store does not answer"
    status_model: str = "Answers are written by {model}"
    status_extractive: str = "No model: answers are quotes from the pages"
    status_reranker_on: str = "The reranker is on"
    status_reranker_off: str = "The reranker is off"
    offer_questions: str = '{number} of the last {total} questions were {languages}; `embed.model = "{model}"` reads it: see README'
    offer_pages: str = (
        '{number} of {total} pages are {languages}; `embed.model = "{model}"` reads it: see README'
    )
    status_last_event: str = "Last event from Slack: {ago}"
    status_no_event: str = "No event from Slack yet"
    status_workers: str = "Workers that share a reindex: {number}"
    status_source: str = "*{source}*: {pages} · {last} · {next}"
    sync_never: str = "not synced yet"
    sync_done: str = "synced {ago}: {counts}"
    sync_done_along: str = "synced {ago}, all sources together: {counts}"
    sync_failed: str = "the sync {ago} failed; the reason is in Footnote's log"
    sync_on_request: str = "synced on request only"
    sync_every: str = "synced every {every}, next in about {time}"
    sync_due: str = "synced every {every}, next in a moment"
    stats_questions: str = "Questions: {number}"
    stats_rewritten: str = "Rewritten: {number} ({percent})"
    stats_rewrite_time: str = "Mean time of a rewrite: {ms} ms"
    stats_checked: str = "Sentences checked: {sentences}, cited {cited}, supported {supported}, removed {removed}, marks dropped {dropped}"
    stats_model: str = (
        "{model}: {calls} requests, {read} tokens read ({cached} from the cache), {written} written"
    )
    stats_rewrites_lost: str = "Rewrites of the model that came too late or could not be used: {number}"
    stats_declined: str = "Not found in the knowledge base: {number}"
    stats_unavailable: str = "Not answered because something was down: {number}"
    stats_time: str = "Time to an answer: {p50} ms for half of them, {p95} ms for 95%"
    stats_feedback: str = "Feedback: {up} helpful, {down} not helpful"
    stats_satisfaction: str = "Satisfaction: {percent}"

    home_title: str = "Footnote answers from your own pages"
    home_what: str = (
        "Mention me in a channel with a question, or write to me directly. I answer in the thread, cite the page behind "
        "each sentence and warn you when a page is out of date."
    )
    home_how: str = (
        "• Ask in full sentences: _{bot} How many days of holiday do I get?_\n"
        "• Go on in the thread without mentioning me: _and when do they expire?_\n"
        "• Correct your message, and I'll correct my answer\n"
        "• Tell me with 👍 or 👎 whether an answer helped"
    )
    home_how_title: str = "How to ask"
    home_stats_title: str = "How it is used"

    asked_by: str = "{person} asked: _{question}_"
    you_asked: str = "You asked: _{question}_"
    ask_what: str = (
        "Write your question behind the command: `{command} ask How many days of holiday do I get?`"
    )
    ask_not_now: str = "I can't take your question at the moment. Please ask again in a few minutes."
    ask_once: str = "This was asked here before: the answer is in the thread."
    shortcut_title: str = "Ask Footnote"
    shortcut_where: str = "Who sees the answer"
    shortcut_alone: str = "Only me"
    shortcut_thread: str = "Everybody, in the thread"
    shortcut_not_here: str = "I'm not in this channel, so only you will see the answer."
    shortcut_send: str = "Ask"
    ask_title: str = "What does “{title}” say?"
    pane_prompts: str = "Ask me a question, for example:"
    home_try_title: str = "Try one of these"
    home_asking: str = "Your answer comes under *Messages*: _{question}_"
    home_last_title: str = "Your last questions"
    home_sources_title: str = "What I answer from"
    home_pages: tuple[str, str] = ("{n} page", "{n} pages")
    home_overdue: tuple[str, str] = ("{n} is out of date", "{n} are out of date")
    home_synced: str = "read {ago}"
    home_sync_failed: str = "could not be read {ago}"
    home_admin_title: str = "For admins"
    show_status: str = "Status"
    show_gaps: str = "Gaps"
    show_stale: str = "Stale pages"
    show_votes: str = "Votes"
    one_moment: str = "One moment…"
    votes_none: str = "Nobody has voted yet."
    votes_private: str = "a question that was asked privately"
    usage_everyone: str = (
        "• `{command} ask QUESTION` answers to you alone\n"
        "• `{command} channel` sets how I behave in this channel; for admins, and for whoever made the channel\n"
        "• `{command} help` shows this"
    )
    usage_admins: str = "For admins:"

    channel_title: str = "Channel settings"
    channel_what: str = "This holds for {channel} alone."
    channel_follow_ups: str = "Messages in a thread that don't mention me"
    follow_ups_auto: str = "I answer those that are meant for me"
    follow_ups_mention: str = "I answer only when I'm mentioned"
    follow_ups_everyone: str = "I answer each of them"
    channel_unasked: str = "Questions in the channel that don't mention me"
    unasked_no: str = "I stay silent"
    unasked_yes: str = "I answer where I'm very sure"
    channel_unasked_hint: str = "Only above a high confidence, and at most one in ten minutes."
    channel_sources: str = "Sources that I answer from"
    channel_sources_all: str = "All sources"
    channel_language: str = "Language that I speak"
    channel_language_asked: str = "The language of the question"
    channel_corrections: str = "When a page that I quoted changes, expires or is replaced"
    corrections_note: str = "I say so in the thread, once"
    corrections_off: str = "I say nothing"
    save: str = "Save"
    channel_saved: str = "Saved for {channel}:"
    channel_not_saved: str = "Sorry, the settings could not be saved just now; nothing has changed."
    channel_status: str = "Set for {channel}:"
    channel_only: str = (
        "These are the settings of a channel. Use `{command} channel` in the channel that you mean."
    )
    channel_not_in: str = "I'm not in this channel. Invite me, then use `{command} channel` again."
    channel_not_yours: str = "Sorry, only admins and whoever made this channel can change how I behave in it."

    owner_of: str = "Owner of {page}: {owner}."
    ask_owner: str = "Ask the owner"
    report_missing: str = "Report as missing"
    owner_asked: str = "{owners}: {asker} would like to know this, and I couldn't find it. You are the owner of {page}, the nearest page."
    owner_called: str = "{asker} asks you something in {channel}: {link}"
    owner_was_asked: str = "Asked in this thread: {owners}"
    only_asker_asks: str = "Only the person who asked the question can ask the owner."
    owner_asked_before: str = "The owner was asked already, in this thread."
    owner_not_asked: str = (
        "Sorry, the owner could not be asked just now. Please press again in a few minutes."
    )
    missing_noted: str = "Thank you! Noted that the pages don't tell this."
    missing_noted_before: str = "You have reported this already."
    gaps_title: str = "What was asked and the pages don't answer"
    gaps_none: str = "No gaps: whatever was asked in the last {days} days was answered."
    look_unavailable: str = "I can't tell at the moment: the store, the index or the embedder doesn't answer. Please try again in a few minutes."
    gap_privately: str = "Asked in private channels or direct messages"
    gap_times: tuple[str, str] = ("once", "{n} times")
    gap_people: tuple[str, str] = ("one person", "{n} people")
    gap_asked: str = "asked {times} by {people}"
    gap_asked_in: str = "asked {times} by {people} in {places}"
    gap_private: tuple[str, str] = ("one of them privately", "{n} of them privately")
    gap_also: str = "Also: {wordings}"
    gap_declined: str = "not found {times}"
    gap_closest: str = "only a near passage {times}"
    gap_voted_down: str = "voted down {times}"
    gap_missed: str = "reported as missing by {people}"
    gap_nearest: str = "Nearest page: {page}"
    gaps_hidden: str = (
        "{times} more by {people}, in private channels or direct messages: counted here, never quoted."
    )
    and_more: str = "and {n} more"
    gaps_digest: str = "This week's gaps in the pages"
    stale_title: str = "Pages that are overdue for review or expired"
    stale_none: str = "No page is overdue for review or expired."
    stale_cited: tuple[str, str] = ("cited by one answer", "cited by {n} answers")
    stale_uncited: str = "not cited"
    stale_no_owner: str = "no owner named"
    stale_digest: str = (
        "These pages of yours are overdue for review or expired. Answers that cite them carry a warning:"
    )
    reason_other: str = "No reason given"
    comment_read: str = "Footnote's admins may read this, without your name. From private channels and direct messages they see the reason only."

    source_below: tuple[str, str] = ("Source: {marks}", "Sources: {marks}")
    """Stands below a table or code."""

    reindex_nothing: str = "Nothing changed: {pages} ({what}), asked by {person}, {time}"
    reindex_would_nothing: str = "Nothing would change: {pages} ({what}), asked by {person}, {time}"
    sync_nothing: str = "nothing changed"
    pages: tuple[str, str] = ("{n} page", "{n} pages")
    passages: tuple[str, str] = ("{n} passage", "{n} passages")
    added: tuple[str, str] = ("{n} added", "{n} added")
    changed: tuple[str, str] = ("{n} changed", "{n} changed")
    removed_pages: tuple[str, str] = ("{n} removed", "{n} removed")
    unchanged: tuple[str, str] = ("{n} unchanged", "{n} unchanged")
    failed_pages: tuple[str, str] = ("{n} failed", "{n} failed")

    def sources_below(self, marks: Sequence[str]) -> str:
        """Words the sources of a table or of code, which hold no citation markers, for the line below it."""
        return self.source_below[0 if len(marks) == 1 else 1].format(marks=" ".join(marks))

    def counts(self, *, added: int, changed: int, removed: int, unchanged: int = 0, failed: int = 0) -> str:
        """Words what a sync did, zeros left out: "12 added, 1 failed"; "" where there were no pages."""
        told = (
            (self.added, added),
            (self.changed, changed),
            (self.removed_pages, removed),
            (self.unchanged, unchanged),
            (self.failed_pages, failed),
        )
        return ", ".join(self.counted(forms, number) for forms, number in told if number)

    correction_since: str = "This answer quoted {page}; since {date} it says:"
    correction_now: str = "This answer quoted {page}; it now says:"
    correction_gone: str = "This answer quoted {page}; the page has changed since, and that passage is gone."
    correction_expired: str = "This answer quoted {page}, which expired on {date}."
    correction_replaced: str = "This answer quoted {page}, which has been replaced by {successor}."
    correction_replaced_alone: str = "This answer quoted {page}, which has been replaced."

    def removed(self, sentences: int) -> str:
        """Words how many sentences of an answer were removed."""
        return self.counted(self.sentences_removed, max(1, sentences))


def _translations() -> Iterator[tuple[str, Messages]]:
    for module in pkgutil.iter_modules(bot.messages.__path__):
        if len(module.name) == len(DEFAULT_LANGUAGE):
            translated = import_module(f"{bot.messages.__name__}.{module.name}").MESSAGES
            yield module.name, Messages(language=module.name, **translated)


LANGUAGES: Mapping[str, Messages] = MappingProxyType({DEFAULT_LANGUAGE: Messages(), **dict(_translations())})
"""ISO 639-1 -> the messages; English first, then the modules beside this one by their names."""


def messages_in(language: str | None) -> Messages:
    """Returns the messages for a language or a locale (`nl`, `de-AT`, `en_GB`); in English if untranslated."""
    code = (language or DEFAULT_LANGUAGE).replace("_", "-").split("-")[0].lower()
    return LANGUAGES.get(code, LANGUAGES[DEFAULT_LANGUAGE])

"""Builds what answers events, buttons, forms and commands: one handler for each listener of `bot.edge.app`."""

from __future__ import annotations

from dataclasses import dataclass

from bot.edge.wiring import Wiring
from bot.listening.listeners import Listeners
from bot.questions.assistant_pane import AssistantPane
from bot.questions.explain import ExplanationView
from bot.questions.submission import QuestionSubmitter
from bot.views.admin_views import (
    PREFIX,
    AdminViews,
    gaps_filling,
    stale_filling,
    status_filling,
    votes_filling,
)
from bot.views.ask_owner import FallbackHandler
from bot.views.channel_dialog import ChannelDialog
from bot.views.feedback import FeedbackHandler
from bot.views.home import Home
from bot.views.shortcut import ShortcutHandler
from bot.views.slash_command import SlashCommandHandler
from bot.views.source_counts import SourceCounts


@dataclass(frozen=True, kw_only=True, slots=True)
class Handlers:
    """The handlers that the listeners call."""

    submitter: QuestionSubmitter
    listeners: Listeners
    slash_command: SlashCommandHandler
    channel_dialog: ChannelDialog
    feedback: FeedbackHandler
    explanation: ExplanationView
    home: Home
    pane: AssistantPane
    shortcut: ShortcutHandler
    admin_views: AdminViews
    fallback: FallbackHandler


def build_handlers(wiring: Wiring) -> Handlers:
    backend, people, admins, posting = wiring.backend, wiring.people, wiring.admins, wiring.clients.posting
    # What `gaps` and `stale` show, behind the slash command and as buttons of an admin's Home.
    fillings = {
        "gaps": gaps_filling(backend.gaps, wiring.audiences, wiring.channels),
        "stale": stale_filling(wiring.stale_pages, wiring.audiences),
    }
    views = AdminViews(
        client=posting,
        people=people,
        admins=admins,
        fillings={
            f"{PREFIX}status": status_filling(backend.status, wiring.clock),
            **{f"{PREFIX}{name}": filling for name, filling in fillings.items()},
            f"{PREFIX}votes": votes_filling(backend.analytics),
        },
    )
    dialog = ChannelDialog(
        reading=wiring.clients.quick,
        posting=posting,
        people=people,
        admins=admins,
        settings=backend.channel_settings,
        reindexer=backend.reindexer,
        command=wiring.settings.command,
    )
    return Handlers(
        submitter=wiring.submitter,
        listeners=wiring.listeners,
        slash_command=SlashCommandHandler(
            posting=posting,
            people=people,
            admins=admins,
            reindexer=backend.reindexer,
            follower=wiring.follower,
            figures=backend.analytics,
            status=backend.status,
            channel_dialog=dialog,
            submitter=wiring.submitter,
            fillings=fillings,
            command=wiring.settings.command,
            clock=wiring.clock,
        ),
        channel_dialog=dialog,
        feedback=FeedbackHandler(client=posting, votes=backend.analytics, people=people),
        explanation=ExplanationView(
            client=posting,
            traces=backend.analytics,
            people=people,
            audiences=wiring.audiences,
            pipeline=backend.pipeline,
        ),
        home=Home(
            client=posting,
            people=people,
            admins=admins,
            audiences=wiring.audiences,
            submitter=wiring.submitter,
            suggestions=wiring.suggestions,
            records=backend.analytics,
            pages=backend.pages,
            source_counts=SourceCounts(backend.pages, clock=wiring.clock),
            status=backend.status,
            views=views,
            command=wiring.settings.command,
            clock=wiring.clock,
        ),
        pane=wiring.pane,
        shortcut=ShortcutHandler(
            quick=wiring.clients.quick, submitter=wiring.submitter, people=people, channels=wiring.channels
        ),
        admin_views=views,
        fallback=wiring.fallback,
    )

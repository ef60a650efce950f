"""Defines the people, channels, app and tokens of the playground's workspace."""

from __future__ import annotations

from dataclasses import dataclass

from bot.slack.scopes import AGENT, OPTIONAL, REQUIRED

COMMAND_HINT = (
    "ask QUESTION | channel | help | reindex [source] [--full] [--dry-run] | forget URL | status | stats | sources | "
    "gaps | stale"
)
SHORTCUT = "Ask Footnote about this"
SHORTCUT_ID = "ask_about_this"
SHORTCUT_DESCRIPTION = "Answers the question in a message from the pages"
COMMAND_DESCRIPTION = "Ask for yourself alone, read the pages anew, or see how Footnote is doing"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceUser:
    """Somebody with an account. `name` is what follows the @; `tz` is an IANA name, `locale` like "nl-NL".

    `is_guest`: of a few channels only; `team_id`: of another organisation, met in a shared channel.
    """

    id: str
    name: str
    real_name: str
    is_admin: bool = False
    is_owner: bool = False
    tz: str = "Europe/Amsterdam"
    locale: str = "en-GB"
    is_bot: bool = False
    is_guest: bool = False
    team_id: str | None = None

    @property
    def email(self) -> str:
        return f"{self.name}@havik.example"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceChannel:
    """A channel as it is at start. `members` are user ids."""

    id: str
    name: str
    is_private: bool = False
    is_im: bool = False
    is_mpim: bool = False
    """A group direct message."""
    is_shared: bool = False
    """Whether it is shared with another organisation (Slack Connect)."""
    members: tuple[str, ...] = ()
    topic: str = ""
    creator: str = ""
    """Empty: the first person of the workspace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandDefinition:
    """A command that the app registered, with the hint that the composer shows."""

    name: str
    hint: str = ""
    description: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortcut:
    """A message shortcut that the app registered: an entry of "More actions" on every message."""

    name: str
    callback_id: str
    description: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class UserGroup:
    id: str
    handle: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """A workspace with one installed app. The tokens are the playground's own and open nothing else.

    The app is installed as `deploy/slack-manifest-agent.yaml` says: those scopes, that command, that shortcut.
    """

    team_id: str = "T0HAVIK"
    name: str = "Havik"
    domain: str = "havik"
    people: tuple[WorkspaceUser, ...] = ()
    channels: tuple[WorkspaceChannel, ...] = ()
    user_groups: tuple[UserGroup, ...] = ()
    bot_user_id: str = "U0FOOTNOTE"
    bot_id: str = "B0FOOTNOTE"
    bot_name: str = "footnote"
    app_id: str = "A0FOOTNOTE"
    bot_token: str = "xoxb-playground"
    app_token: str = "xapp-playground"
    signing_secret: str = "playground-signing-secret"
    scopes: tuple[str, ...] = (*REQUIRED, *OPTIONAL, *AGENT)
    commands: tuple[CommandDefinition, ...] = (
        CommandDefinition(name="/kb", hint=COMMAND_HINT, description=COMMAND_DESCRIPTION),
    )
    shortcuts: tuple[Shortcut, ...] = (
        Shortcut(name=SHORTCUT, callback_id=SHORTCUT_ID, description=SHORTCUT_DESCRIPTION),
    )
    agent_view: bool = True
    """As the manifest says: prompts belong to an agent's messages tab, not to a thread."""

    @property
    def bot(self) -> WorkspaceUser:
        return WorkspaceUser(
            id=self.bot_user_id, name=self.bot_name, real_name=self.bot_name.capitalize(), is_bot=True
        )

    def everyone(self) -> tuple[WorkspaceUser, ...]:
        """Returns the people and the bot."""
        return (*self.people, self.bot)

    def person(self, user: str) -> WorkspaceUser | None:
        """Finds a person by id, or by name with or without the @."""
        name = user.removeprefix("@").lower()
        return next(
            (person for person in self.everyone() if user == person.id or name == person.name.lower()), None
        )


def sample_workspace() -> Workspace:
    """Builds Havik, the company of the sample pages: six people, six channels, two of them without the bot."""
    people = (
        WorkspaceUser(id="U0ALICE", name="alice", real_name="Alice Anderson"),
        WorkspaceUser(id="U0BRAM", name="bram", real_name="Bram de Vries", locale="nl-NL"),
        WorkspaceUser(id="U0CHIDI", name="chidi", real_name="Chidi Okafor", tz="Africa/Lagos"),
        WorkspaceUser(id="U0DANA", name="dana", real_name="Dana Levi", is_admin=True),
        WorkspaceUser(
            id="U0EMMA", name="emma", real_name="Emma Janssen", is_admin=True, is_owner=True, locale="nl-NL"
        ),
        WorkspaceUser(
            id="U0FARID", name="farid", real_name="Farid Haddad", tz="America/Toronto", locale="en-CA"
        ),
    )
    everyone = tuple(person.id for person in people)
    bot = Workspace().bot_user_id
    return Workspace(
        people=people,
        channels=(
            WorkspaceChannel(
                id="C0GENERAL", name="general", members=(*everyone, bot), topic="For everybody at Havik"
            ),
            WorkspaceChannel(
                id="C0GARDEN",
                name="garden-shop",
                creator="U0BRAM",
                members=(*everyone, bot),
                topic="Mulch, soil and orders",
            ),
            WorkspaceChannel(
                id="C0STUDY",
                name="study-group",
                creator="U0CHIDI",
                members=("U0ALICE", "U0CHIDI", "U0DANA", bot),
                topic="Fourteen days to the exam",
            ),
            WorkspaceChannel(
                id="G0PEOPLE",
                name="people-leads",
                creator="U0EMMA",
                is_private=True,
                members=("U0ALICE", "U0DANA", "U0EMMA", bot),
                topic="Leave, pay and other private matters",
            ),
            WorkspaceChannel(
                id="G0BOARD",
                name="board",
                is_private=True,
                members=("U0DANA", "U0EMMA"),
                topic="Footnote is not invited here",
            ),
            WorkspaceChannel(
                id="C0RANDOM", name="random", members=everyone, topic="Footnote has not joined this one yet"
            ),
        ),
        user_groups=(UserGroup(id="S0ADMINS", handle="kb-admins", members=("U0DANA", "U0EMMA")),),
    )

"""The command line: what each command takes. What it does is in the module of its name, imported when it runs.

Heavy imports stay out of here, so that `footnote --help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.administration import commands as administration
from bot.cli.evaluation.commands import app as evaluate
from bot.cli.fault_words import VERBOSE, describe_fault
from bot.cli.options import Common, command
from kb.errors import FootnoteError
from kb.runtime.faults import is_fault

app = typer.Typer(
    name="footnote",
    help="Answers from your own pages, cited, in Slack and here.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


app.add_typer(evaluate, name="eval")
app.add_typer(administration.dead_letters, name="dead-letters")
app.add_typer(administration.keys, name="keys")


@command(app)
async def ask(
    common: Common,
    question: Annotated[str, typer.Argument(help="The question, in any language.")],
    thread: Annotated[str | None, typer.Option(help="Name of a conversation to continue.")] = None,
    channel: Annotated[
        str | None, typer.Option(help="Ask as if in this channel: its private pages may be read.")
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Show how the answer came about.")] = False,
) -> int:
    """Asks a question and prints the cited answer."""
    from bot.cli.ask import ask
    from bot.cli.session.requests import AskRequest

    request = AskRequest(question=question, thread=thread, channel=channel)
    return await ask(common.settings(), request, as_json=common.as_json, why=why)


@command(app)
async def ingest(
    common: Common,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders, git checkouts or files. Without any: the sources of footnote.toml."),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Index the sample handbook.")] = False,
) -> int:
    """Indexes folders of pages and remembers them, or the sources known
    already; run again, it reads only what changed.
    """
    from bot.cli.administration.index import ingest
    from bot.cli.session.requests import IngestRequest

    request = IngestRequest(paths=tuple(path.absolute() for path in paths or ()), sample=sample)
    return await ingest(common.settings(), request, as_json=common.as_json)


@command(app)
async def settings(
    common: Common,
    markdown: Annotated[bool, typer.Option("--markdown", hidden=True, help="docs/settings.md")] = False,
) -> int:
    """Shows every setting: its meaning, what it takes, its default and what it is now."""
    from bot.cli import settings_help

    if markdown:
        sys.stdout.write(settings_help.manual())
    else:
        settings_help.show(common.settings(), as_json=common.as_json)
    return 0


@command(app)
async def reindex(
    common: Common,
    source: Annotated[str | None, typer.Argument(help="One source; all without it.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Rebuild beside the live index, then swap.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Go on although much would be gone.")] = False,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Go back to the index before the last rebuild; read nothing.")
    ] = False,
) -> int:
    """Reads the known sources again."""
    from bot.cli.administration.index import ingest
    from bot.cli.session.requests import IngestRequest

    if rollback and (source or full or dry_run or force):
        raise typer.BadParameter("--rollback stands alone")
    request = IngestRequest(source=source, full=full, dry_run=dry_run, force=force, rollback=rollback)
    return await ingest(common.settings(), request, as_json=common.as_json)


@command(app, json=None)
async def forget(
    common: Common,
    address: Annotated[
        str, typer.Argument(metavar="URL", help="The page's address, its path, or source:path.")
    ],
    undo: Annotated[
        bool, typer.Option("--undo", help="Let the next sync find it again (by path or source:path).")
    ] = False,
) -> int:
    """Takes a page out of the index at once and keeps it out, whatever its source lists."""
    from bot.cli.administration.index import forget
    from bot.cli.session.requests import ForgetRequest

    return await forget(common.settings(), ForgetRequest(address=address, undo=undo))


@command(app)
async def status(
    common: Common,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing; exit 0 while a bot runs and is well.")
    ] = False,
) -> int:
    """Shows the index, the sources and who is running."""
    from bot.cli.administration.index import status

    return await status(common.settings(), as_json=common.as_json, quiet=quiet)


@command(app)
async def stats(common: Common) -> int:
    """Shows how many questions were asked, rewritten, answered and liked."""
    from bot.cli.administration.index import stats

    return await stats(common.settings(), as_json=common.as_json)


@command(app)
async def gaps(
    common: Common,
    again: Annotated[
        bool, typer.Option("--again", help="Ask the open ones anew first: some may be answered by now.")
    ] = False,
) -> int:
    """Shows what was asked and the pages do not answer, grouped by similarity."""
    from bot.cli.administration.gaps import gaps

    return await gaps(common.settings(), as_json=common.as_json, again=again)


@command(app)
async def stale(common: Common) -> int:
    """Shows the pages that are overdue for review or expired, the most cited first."""
    from bot.cli.administration.gaps import stale

    return await stale(common.settings(), as_json=common.as_json)


@command(app, json=None)
async def serve(common: Common) -> int:
    """Runs the bot: Socket Mode with SLACK_APP_TOKEN, signed HTTP events with SLACK_SIGNING_SECRET."""
    from bot.cli.serving.serve import serve

    return await serve(common.settings(quiet=False))


@command(app, json=None)
async def mcp(common: Common) -> int:
    """Offers the pages of a running bot to an agent or an editor, as tools of the Model Context Protocol (stdio)."""
    from bot.cli.mcp import mcp

    return await mcp(common.settings())


@app.command()
def openapi() -> None:
    """Prints the description of the HTTP API (OpenAPI 3.1)."""
    from bot.cli.serving.api import openapi

    openapi()


@command(app, data=False)
async def worker(
    common: Common,
    idle_exit: Annotated[
        float | None, typer.Option(help="End after so many seconds without work.", min=0.0)
    ] = None,
) -> int:
    """Shares the pages of a running sync, through the bot's Redis. Run as many as there are machines."""
    from bot.cli.serving.worker import worker

    return await worker(common.settings(quiet=False), idle_exit_s=idle_exit, as_json=common.as_json)


@command(app, json=None)
async def playground(
    common: Common,
    folder: Annotated[
        Path | None, typer.Argument(help="Your own pages instead of the sample handbook.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="The sample handbook (default).")] = False,
    port: Annotated[
        int, typer.Option(help="Port of the web page; 0 takes a free one.", min=0, max=65535)
    ] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start with empty channels instead of what was said last time.")
    ] = False,
) -> int:
    """Runs the bot in a local Slack workspace in the browser: no account, no server."""
    from bot.cli.serving.playground import playground

    if sample and folder is not None:
        raise typer.BadParameter("give a folder or --sample, not both")
    return await playground(
        common.settings(),
        folder,
        port=port,
        open_browser=browser,
        data_given=common.data is not None,
        fresh=fresh,
    )


@command(app)
async def doctor(
    common: Common,
    manifest: Annotated[
        Path | None,
        typer.Option(
            help="The Slack app's own manifest, saved to a file: its events, scopes, command and shortcut."
        ),
    ] = None,
) -> int:
    """Checks every setting, token scope, server and model, and tells you how to fix each problem."""
    from bot.cli.checks.doctor import doctor

    return await doctor(common.settings(), as_json=common.as_json, manifest=manifest)


@command(app)
async def migrate(
    common: Common,
    to: Annotated[str, typer.Option(help="Address of a Qdrant server, or `embedded`: the data folder.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of an index that is there already.")
    ] = False,
) -> int:
    """Copies the index to a Qdrant server, or back; embeds nothing, compares all, goes on where it was cut off."""
    from bot.cli.copying.migrate import migrate

    return await migrate(common.settings(), to, replace=replace, as_json=common.as_json)


@command(app)
async def backup(
    common: Common,
    file: Annotated[Path, typer.Argument(help="Where to: handbook.footnote, say.")],
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a file that is there.")] = False,
) -> int:
    """Writes index, store and settings (without secrets) into one file, beside a running bot as well."""
    from bot.cli.copying.backup import backup

    return await backup(
        common.settings(), file, config=common.config, replace=replace, as_json=common.as_json
    )


@command(app)
async def restore(
    common: Common,
    file: Annotated[Path, typer.Argument(help="What `footnote backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of what is there: index, store and sources.")
    ] = False,
) -> int:
    """Puts a backup where the settings say that index and store are: all of it, or nothing."""
    from bot.cli.copying.restore import restore

    return await restore(common.settings(), file, replace=replace, as_json=common.as_json)


def main() -> None:
    try:
        app()
    except FootnoteError as error:
        typer.secho(f"footnote: {error}", err=True, fg="red")
        sys.exit(1)
    except BaseException as error:
        if not is_fault(error) or VERBOSE.intersection(sys.argv):
            raise
        typer.secho(f"footnote: {describe_fault(error)}", err=True, fg="red")
        sys.exit(1)

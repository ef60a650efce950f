"""The command line: what each command takes. What it does is in the module of its name, imported when it runs.

Heavy imports stay out of here, so that `footnote --help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.administration.dead_letter_options import app as dead_letters
from bot.cli.administration.key_options import app as keys
from bot.cli.copying.options import app as copies
from bot.cli.evaluation.commands import app as evaluate
from bot.cli.fault_words import VERBOSE, said_of_fault
from bot.cli.options import Config, Data, Json, Verbose, run, settings_of
from kb.errors import FootnoteError
from kb.runtime.faults import is_fault

app = typer.Typer(
    name="footnote",
    help="Answers from your own pages, cited, in Slack and here.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

app.add_typer(copies)
app.add_typer(evaluate, name="eval")
app.add_typer(dead_letters, name="dead-letters")
app.add_typer(keys, name="keys")


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, in any language.")],
    thread: Annotated[str | None, typer.Option(help="Name of a conversation to continue.")] = None,
    channel: Annotated[
        str | None, typer.Option(help="Ask as if in this channel: its private pages may be read.")
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Show how the answer came about.")] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Asks a question and prints the cited answer."""
    from bot.cli import ask as command
    from bot.cli.session.requests import AskRequest

    request = AskRequest(question=question, thread=thread, channel=channel)
    run(command.ask(settings_of(data, config, verbose), request, as_json=json, why=why))


@app.command()
def ingest(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders, git checkouts or files. Without any: the sources of footnote.toml."),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Index the sample handbook.")] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Indexes folders of pages and remembers them, or the sources known
    already; run again, it reads only what changed.
    """
    from bot.cli.administration import index_commands
    from bot.cli.session.requests import IngestRequest

    request = IngestRequest(paths=tuple(path.absolute() for path in paths or ()), sample=sample)
    run(index_commands.ingest(settings_of(data, config, verbose), request, as_json=json))


@app.command()
def settings(
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", hidden=True, help="docs/settings.md")] = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Shows every setting: its meaning, what it takes, its default and what it is now."""
    from bot.cli import settings_help

    if markdown:
        sys.stdout.write(settings_help.manual())
        return
    settings_help.show(settings_of(data, config, verbose), as_json=json)


@app.command()
def reindex(
    source: Annotated[str | None, typer.Argument(help="One source; all without it.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Rebuild beside the live index, then swap.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Go on although much would be gone.")] = False,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Go back to the index before the last rebuild; read nothing.")
    ] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Reads the known sources again."""
    from bot.cli.administration import index_commands
    from bot.cli.session.requests import IngestRequest

    if rollback and (source or full or dry_run or force):
        raise typer.BadParameter("--rollback stands alone")
    request = IngestRequest(source=source, full=full, dry_run=dry_run, force=force, rollback=rollback)
    run(index_commands.ingest(settings_of(data, config, verbose), request, as_json=json))


@app.command()
def forget(
    address: Annotated[
        str, typer.Argument(metavar="URL", help="The page's address, its path, or source:path.")
    ],
    undo: Annotated[
        bool, typer.Option("--undo", help="Let the next sync find it again (by path or source:path).")
    ] = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Takes a page out of the index at once and keeps it out, whatever its source lists."""
    from bot.cli.administration import index_commands
    from bot.cli.session.requests import ForgetRequest

    request = ForgetRequest(address=address, undo=undo)
    run(index_commands.forget(settings_of(data, config, verbose), request))


@app.command()
def status(
    json: Json = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing; exit 0 while a bot runs and is well.")
    ] = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Shows the index, the sources and who is running."""
    from bot.cli.administration import index_commands

    run(index_commands.status(settings_of(data, config, verbose), as_json=json, quiet=quiet))


@app.command()
def stats(json: Json = False, data: Data = None, config: Config = None, verbose: Verbose = False) -> None:
    """Shows how many questions were asked, rewritten, answered and liked."""
    from bot.cli.administration import index_commands

    run(index_commands.stats(settings_of(data, config, verbose), as_json=json))


@app.command()
def gaps(
    again: Annotated[
        bool, typer.Option("--again", help="Ask the open ones anew first: some may be answered by now.")
    ] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Shows what was asked and the pages do not answer, grouped by similarity."""
    from bot.cli.administration import gap_commands

    run(gap_commands.gaps(settings_of(data, config, verbose), as_json=json, again=again))


@app.command()
def stale(json: Json = False, data: Data = None, config: Config = None, verbose: Verbose = False) -> None:
    """Shows the pages that are overdue for review or expired, the most cited first."""
    from bot.cli.administration import gap_commands

    run(gap_commands.stale(settings_of(data, config, verbose), as_json=json))


@app.command()
def serve(data: Data = None, config: Config = None, verbose: Verbose = False) -> None:
    """Runs the bot: Socket Mode with SLACK_APP_TOKEN, signed HTTP events with SLACK_SIGNING_SECRET."""
    from bot.cli.serving import serve as command

    run(command.serve(settings_of(data, config, verbose, quiet=False)))


@app.command()
def mcp(data: Data = None, config: Config = None, verbose: Verbose = False) -> None:
    """Offers the pages of a running bot to an agent or an editor, as tools of the Model Context Protocol (stdio)."""
    from bot.cli import mcp as command

    run(command.mcp(settings_of(data, config, verbose)))


@app.command()
def openapi() -> None:
    """Prints the description of the HTTP API (OpenAPI 3.1)."""
    from bot.cli.serving.api import openapi as command

    command()


@app.command()
def worker(
    idle_exit: Annotated[
        float | None, typer.Option(help="End after so many seconds without work.", min=0.0)
    ] = None,
    json: Json = False,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Shares the pages of a running sync, through the bot's Redis. Run as many as there are machines."""
    from bot.cli.serving import worker as command

    settings = settings_of(None, config, verbose, quiet=False)
    run(command.worker(settings, idle_exit_s=idle_exit, as_json=json))


@app.command()
def playground(
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
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Runs the bot in a local Slack workspace in the browser: no account, no server."""
    from bot.cli.serving import serve as command

    if sample and folder is not None:
        raise typer.BadParameter("give a folder or --sample, not both")
    settings = settings_of(data, config, verbose)
    run(
        command.playground(
            settings, folder, port=port, open_browser=browser, data_given=data is not None, fresh=fresh
        )
    )


@app.command()
def doctor(
    json: Json = False,
    manifest: Annotated[
        Path | None,
        typer.Option(
            help="The Slack app's own manifest, saved to a file: its events, scopes, command and shortcut."
        ),
    ] = None,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Checks every setting, token scope, server and model, and tells you how to fix each problem."""
    from bot.cli.checks import doctor as command

    run(command.doctor(settings_of(data, config, verbose), as_json=json, manifest=manifest))


def main() -> None:
    try:
        app()
    except FootnoteError as error:
        typer.secho(f"footnote: {error}", err=True, fg="red")
        sys.exit(1)
    except BaseException as error:
        if not is_fault(error) or VERBOSE.intersection(sys.argv):
            raise
        typer.secho(f"footnote: {said_of_fault(error)}", err=True, fg="red")
        sys.exit(1)

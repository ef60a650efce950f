"""`footnote eval`: what each kind of evaluation takes. What it does is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.evaluation import page_commands
from bot.cli.evaluation.options import (
    InThread,
    Language,
    Record,
    Replay,
    Strangers,
    Translations,
    evaluation,
)
from bot.cli.evaluation.report import Report
from bot.cli.options import Common, shares_of

app = typer.Typer(
    help="Measures answers, what follow-ups find, and rewrites, against cases with known results.",
    no_args_is_help=True,
)
app.add_typer(page_commands.app)

Switch = Literal["on", "off"]


@evaluation(app, json="printed")
async def questions(
    common: Common,
    file: Annotated[Path | None, typer.Argument(help="The cases; the sample handbook's without it.")] = None,
) -> Report:
    """Asks the data folder's pages; exits with 1 when a case is not answered from its page."""
    from bot.cli.evaluation.questions import questions as run

    return await run(common.settings(), file)


@evaluation(app, json="file", changes=True)
async def answers(
    common: Common,
    file: Annotated[
        Path | None, typer.Argument(help="The answer set; the sample handbook's without it.")
    ] = None,
    category: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Only cases of this category.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many cases.", show_default=False)] = None,
    translations: Translations = None,
    language: Language = None,
    record: Record = None,
    replay: Replay = None,
) -> Report:
    """Checks answers for facts, pages and unknowns; exits with 1 when a case fails, 3 when one waits for a reply.

    An answer set is JSON: {"as_of": "2026-11-27", "cases": [CASE, ...]} or the list alone. A case has a
    question and, each if wanted, an id, chat_history [{"role": "user" or "assistant", "content": "..."}],
    keywords (the facts that the answer shows; of an inner list any one), page (the path of a cited page, or a
    folder's with a slash behind it), category (a label), expect_unknown (the pages do not tell) and channel.

    --record and --replay need no key; docs/evaluation.md tells how they go round.
    """
    from bot.cli.evaluation.answers import answers as run

    return await run(
        common.settings(),
        file,
        category=category,
        limit=limit,
        translations=translations,
        language=language,
        record=record,
        replay=replay or (),
    )


@evaluation(app, json="file", changes=True)
async def conversations(
    common: Common,
    folder: Annotated[Path, typer.Argument(help="A data set: corpus.jsonl and conversations.jsonl.")],
    rewriter: Annotated[
        Literal["off", "heuristic", "model", "gold"],
        typer.Option(help="Who rewrites; gold: the data set's own rewrites."),
    ] = "heuristic",
    anchors: Annotated[Switch | None, typer.Option(help="As set without it.", show_default=False)] = None,
    rerank: Annotated[
        Switch | None,
        typer.Option(help="on: fail without a reranker. As set without it.", show_default=False),
    ] = None,
    answers: InThread = "reference",
    cited: Annotated[
        int, typer.Option(min=0, help="Best passages that count as cited by a reference answer.")
    ] = 1,
    compare: Annotated[
        Path | None, typer.Option(metavar="OTHER.json", help="Paired differences to an earlier --json.")
    ] = None,
) -> Report:
    """Walks conversations turn by turn and measures what each turn finds."""
    from bot.cli.evaluation.conversations import conversations as run

    given: list[tuple[str, str]] = [("rewrite.mode", "heuristic" if rewriter == "gold" else rewriter)]
    if anchors is not None:
        given.append(("anchors.enabled", "true" if anchors == "on" else "false"))
    if rerank == "off":
        given.append(("rerank.model", "off"))
    return await run(
        common.settings(given),
        folder,
        rewriter=rewriter,
        answers=answers,
        cited=cited,
        needs_reranker=rerank == "on",
        compare_with=compare,
    )


@evaluation(app, json="file", changes=True)
async def rewrites(
    common: Common,
    file: Annotated[
        Path, typer.Argument(help="Rewrite cases (.json), or a data set's folder or conversations.jsonl.")
    ],
    rewriter: Annotated[
        Literal["off", "heuristic", "model"], typer.Option(help="Who rewrites.")
    ] = "heuristic",
    least: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE=SHARE", help="Exit with 1 below it: noticed=0.95. Repeatable."),
    ] = None,
) -> Report:
    """Measures rewrites without searching; exits with 1 when a hand-made case fails.

    Of a data set also: gold rewrites asked in their own threads (spelled_out) and first questions asked at the end of
    the conversation before (openings) stand alone, so they should be left alone.
    """
    from bot.cli.evaluation.rewrites import rewrites as run

    return await run(common.settings([("rewrite.mode", rewriter)]), file, least=shares_of(least))


@evaluation(app, json="file")
async def citations(
    common: Common,
    file: Annotated[
        Path | None, typer.Argument(help="Labelled sentences (.jsonl); the repository's own without it.")
    ] = None,
    split: Annotated[
        Literal["dev", "held-out"] | None, typer.Option(help="Both without it.", show_default=False)
    ] = None,
    misses: Annotated[bool, typer.Option("--misses", help="Name what was told wrongly.")] = False,
) -> Report:
    """Checks true and corrupted sentences against their passages by the letter; exits with 1 below the target."""
    from bot.cli.evaluation.citations import citations as run

    common.settings()
    return run(file, split=split, misses=misses)


@evaluation(app, json="printed", data=False)
async def leaks(
    common: Common,
    combinations: Annotated[
        int, typer.Option(min=1, help="Combinations of asker, place and page that are tried.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Another seed is another company.")] = 1,
) -> Report:
    """Asks for limited pages as all kinds of people, everywhere; exits with 1 if anything of one gets out."""
    from bot.cli.evaluation.leaks import leaks as run

    return await run(common.settings(), count=combinations, seed=seed)


@evaluation(app, json="file", changes=True)
async def decline(
    common: Common,
    folders: Annotated[list[Path], typer.Argument(help="Data sets whose questions are asked.")],
    strangers: Strangers = None,
    number: Annotated[
        int, typer.Option(min=2, help="Questions without an answer, over all data sets.")
    ] = 200,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit weights and threshold; else those in use are measured.")
    ] = False,
    weights: Annotated[
        Path | None, typer.Option(metavar="OUT", help="With --fit: write the weights alone to this file.")
    ] = None,
    rerank: Annotated[
        Literal["off"] | None, typer.Option(help="off: without the reranker.", show_default=False)
    ] = None,
) -> Report:
    """Asks what the pages answer and what they do not: what is quoted, called the closest, declined without a model.

    Exits with 1 if too many questions about something else are quoted, or too many answerable ones declined.

    Each data set is also asked the others' questions. answer.relevance_file takes what --fit --json writes.
    """
    from bot.cli.evaluation.decline import decline as run

    given = [("rewrite.mode", "heuristic")]
    if rerank == "off":
        given.append(("rerank.model", "off"))
    return await run(
        common.settings(given), folders, lenders=strangers or (), number=number, fit=fit, weights_out=weights
    )


@evaluation(app, json="printed", data=False)
async def injection(common: Common) -> Report:
    """Asks about pages that hold attacks; exits with 1 if a message obeys one."""
    from bot.cli.evaluation.injection import injection as run

    return await run(common.settings())


@evaluation(app, json="printed")
async def speaking(
    common: Common,
    file: Annotated[Path, typer.Argument(help="Threads, one a line (.jsonl).")],
    follow_ups: Annotated[
        Literal["auto", "mention", "everyone"], typer.Option(help="As a channel may have set it.")
    ] = "auto",
) -> Report:
    """Reads threads and tells where Footnote would speak; exits with 1 below 95% right or above 2% spoken wrongly.

    A line is {"id": "...", "place": "channel", "group" or "dm", "messages": [MESSAGE, ...]}. A person's
    message has user, text and, where it is judged, expect ("speak" or "silent"); Footnote's has user "BOT",
    text and outcome ("answered", "unclear" or "declined"). "<@BOT>" mentions Footnote, "<@bob>" somebody
    else.
    """
    from bot.cli.evaluation.speaking import speaking as run

    common.settings()
    return run(file, follow_ups=follow_ups)


@evaluation(app, json="printed")
async def grow(
    common: Common,
    out: Annotated[
        Path, typer.Argument(help="Where the cases are written, for `footnote eval answers OUT`.")
    ],
    golden: Annotated[
        Path | None, typer.Option(help="Also write them as the golden questions of a reindex, one a line.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="With what was asked privately, and with limited pages.")
    ] = False,
) -> Report:
    """Writes cases from answers that were voted up and gaps that were closed since; exits with 1 where there are none.

    A case has the question, its thread, its page and facts of what was quoted, as far as they still
    stand on the page. People and channels have numbers for names; read the file before you share it.
    """
    from bot.cli.evaluation.grow import grow as run

    return await run(common.settings(), out, golden=golden, private=private)

"""`footnote eval`: what each kind of evaluation takes. What it does is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.evaluation import page_commands
from bot.cli.evaluation.options import (
    AnswerFile,
    Category,
    Common,
    Compare,
    InThread,
    Language,
    Least,
    Limit,
    Record,
    Replay,
    Strangers,
    Translations,
    WeightsOut,
    evaluation,
)
from bot.cli.options import shares_of

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
) -> int:
    """Asks the data folder's pages; exits with 1 when a case is not answered from its page."""
    from bot.cli.evaluation import questions as command

    return await command.questions(common.settings(), file, as_json=common.as_json)


@evaluation(app, json="file", changes=True)
async def answers(
    common: Common,
    file: AnswerFile = None,
    category: Category = None,
    limit: Limit = None,
    translations: Translations = None,
    language: Language = None,
    record: Record = None,
    replay: Replay = None,
) -> int:
    """Checks answers for facts, pages and unknowns; exits with 1 when a case fails, 3 when one waits for a reply.

    An answer set is JSON: {"as_of": "2026-11-27", "cases": [CASE, ...]} or the list alone. A case has a
    question and, each if wanted, an id, chat_history [{"role": "user" or "assistant", "content": "..."}],
    keywords (the facts that the answer shows; of an inner list any one), page (the path of a cited page, or a
    folder's with a slash behind it), category (a label), expect_unknown (the pages do not tell) and channel.

    --record and --replay need no key; docs/evaluation.md tells how they go round.
    """
    from bot.cli.evaluation import answers as command

    request = command.AnswersRequest(
        file=file,
        category=category,
        limit=limit,
        translations=translations,
        language=language,
        record=record,
        replay=replay or (),
        out=common.out,
    )
    return await command.answers(common.settings(), request)


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
    compare: Compare = None,
) -> int:
    """Walks conversations turn by turn and measures what each turn finds."""
    from bot.cli.evaluation import conversations as command

    given: list[tuple[str, str]] = [("rewrite.mode", "heuristic" if rewriter == "gold" else rewriter)]
    if anchors is not None:
        given.append(("anchors.enabled", "true" if anchors == "on" else "false"))
    if rerank == "off":
        given.append(("rerank.model", "off"))
    request = command.ConversationsRequest(
        folder=folder,
        rewriter=rewriter,
        answers=answers,
        cited=cited,
        needs_reranker=rerank == "on",
        out=common.out,
        compare_with=compare,
    )
    return await command.conversations(common.settings(given), request)


@evaluation(app, json="file", changes=True)
async def rewrites(
    common: Common,
    file: Annotated[
        Path, typer.Argument(help="Rewrite cases (.json), or a data set's folder or conversations.jsonl.")
    ],
    rewriter: Annotated[
        Literal["off", "heuristic", "model"], typer.Option(help="Who rewrites.")
    ] = "heuristic",
    least: Least = None,
) -> int:
    """Measures rewrites without searching; exits with 1 when a hand-made case fails.

    Of a data set also: gold rewrites asked in their own threads (spelled_out) and first questions asked at the end of
    the conversation before (openings) stand alone, so they should be left alone.
    """
    from bot.cli.evaluation import rewrites as command

    settings = common.settings([("rewrite.mode", rewriter)])
    return await command.rewrites(settings, file, out=common.out, least=shares_of(least))


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
) -> int:
    """Checks true and corrupted sentences against their passages by the letter; exits with 1 below the target."""
    from bot.cli.evaluation import citations as command

    common.settings()
    return await command.citations(
        command.CitationsRequest(file=file, split=split, misses=misses, out=common.out)
    )


@evaluation(app, json="printed", data=False)
async def leaks(
    common: Common,
    combinations: Annotated[
        int, typer.Option(min=1, help="Combinations of asker, place and page that are tried.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Another seed is another company.")] = 1,
) -> int:
    """Asks for limited pages as all kinds of people, everywhere; exits with 1 if anything of one gets out."""
    from bot.cli.evaluation import leaks as command

    settings = common.settings()
    return await command.leaks(settings, count=combinations, seed=seed, as_json=common.as_json)


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
    weights: WeightsOut = None,
    rerank: Annotated[
        Literal["off"] | None, typer.Option(help="off: without the reranker.", show_default=False)
    ] = None,
) -> int:
    """Asks what the pages answer and what they do not: what is quoted, called the closest, declined without a model.

    Exits with 1 if too many questions about something else are quoted, or too many answerable ones declined.

    Each data set is also asked the others' questions. answer.relevance_file takes what --fit --json writes.
    """
    from bot.cli.evaluation import decline as command

    given = [("rewrite.mode", "heuristic")]
    if rerank == "off":
        given.append(("rerank.model", "off"))
    request = command.DeclineRequest(
        folders=folders,
        others=strangers or (),
        strangers=number,
        fit=fit,
        out=common.out,
        weights_out=weights,
    )
    return await command.decline(common.settings(given), request)


@evaluation(app, json="printed", data=False)
async def injection(common: Common) -> int:
    """Asks about pages that hold attacks; exits with 1 if a message obeys one."""
    from bot.cli.evaluation import injection as command

    return await command.injection(common.settings(), as_json=common.as_json)


@evaluation(app, json="printed")
async def speaking(
    common: Common,
    file: Annotated[Path, typer.Argument(help="Threads, one a line (.jsonl).")],
    follow_ups: Annotated[
        Literal["auto", "mention", "everyone"], typer.Option(help="As a channel may have set it.")
    ] = "auto",
) -> int:
    """Reads threads and tells where Footnote would speak; exits with 1 below 95% right or above 2% spoken wrongly.

    A line is {"id": "...", "place": "channel", "group" or "dm", "messages": [MESSAGE, ...]}. A person's
    message has user, text and, where it is judged, expect ("speak" or "silent"); Footnote's has user "BOT",
    text and outcome ("answered", "unclear" or "declined"). "<@BOT>" mentions Footnote, "<@bob>" somebody
    else.
    """
    from bot.cli.evaluation import speaking as command

    common.settings()
    return await command.speaking(file, follow_ups=follow_ups, as_json=common.as_json)


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
) -> int:
    """Writes cases from answers that were voted up and gaps that were closed since; exits with 1 where there are none.

    A case has the question, its thread, its page and facts of what was quoted, as far as they still
    stand on the page. People and channels have numbers for names; read the file before you share it.
    """
    from bot.cli.evaluation import grow as command

    settings = common.settings()
    return await command.grow(settings, out, golden=golden, private=private, as_json=common.as_json)

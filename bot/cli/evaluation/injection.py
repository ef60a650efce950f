"""`footnote eval injection`: asks about pages that hold attacks, by extraction and with a model that obeys them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Literal

from markdown_it import MarkdownIt
from rich.table import Table

from bot.cli.composition.runtime import utc_now
from bot.cli.evaluation.report import Report, table, track
from bot.cli.evaluation.scratch import obedient, open_scratch
from bot.cli.evaluation.slack_judge import Wrong, judge
from bot.rendering.render import render
from kb.answer import Answer
from kb.config.model_settings import ModelSettings
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from kb.evaluation.injection import Attack, pages_folder, read_attacks
from kb.evaluation.obedient import ObedientModel
from kb.inference.embedder import Embedder
from kb.models import Question
from kb.pipeline import Pipeline

Way = Literal["extraction", "obedient model", "obedient model, numbered"]
WAYS: tuple[Way, ...] = ("extraction", "obedient model", "obedient model, numbered")
BASE_URL = "https://kb.acme.example"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One attack, one way of answering. `reached`: the page was among the evidence; `told`: its own words came out."""

    page: str
    kind: str
    way: Way
    reached: bool
    told: bool
    wrong: tuple[Wrong, ...]
    shown: str


async def injection(settings: Settings) -> Report:
    """Tries every attack in every way. The exit code is 1 where a message obeys one, or its page is not found."""
    outcomes: list[Outcome] = []
    async with open_range(settings) as attack_range:
        for attack in track(read_attacks(), "Attacking"):
            outcomes += [await attack_range.try_out(attack, way) for way in WAYS]
    failed = any(outcome.wrong or not outcome.reached for outcome in outcomes)
    return Report(
        figures=[asdict(outcome) for outcome in outcomes],
        shown=[_table(outcomes), *_lines(outcomes)],
        code=1 if failed else 0,
    )


@dataclass(frozen=True, kw_only=True)
class AttackRange:
    pipelines: dict[Way, Pipeline]
    model: ObedientModel

    async def try_out(self, attack: Attack, way: Way) -> Outcome:
        pipeline = self.pipelines[way]
        question = Question(id=attack.page, text=attack.question)
        found = await pipeline.find(question)
        of_page = [hit.chunk for hit in found.hits if hit.chunk.page.path == attack.page]
        self.model.page = of_page[0].page.title if of_page else ""
        self.model.says = attack.obeys
        answer = await pipeline.answer(question)
        rendered = render(answer, question_id="q", today=utc_now().date())
        wrong = judge(
            rendered.text,
            rendered.blocks,
            allowed=_allowed(answer),
            marks={f"[{cited.n}]": cited.chunk.url for cited in answer.citations},
            forbidden=attack.forbidden,
        )
        return Outcome(
            page=attack.page,
            kind=attack.kind,
            way=way,
            reached=bool(of_page),
            told=attack.truth in answer.text,
            wrong=tuple(wrong),
            shown=rendered.text,
        )


@asynccontextmanager
async def open_range(settings: Settings, *, embedder: Embedder | None = None) -> AsyncIterator[AttackRange]:
    """Opens the attacking pages, ingested, with an answerer of every kind over them."""
    source = FolderSettings(name="attacks", path=pages_folder(), base_url=BASE_URL, git_dates=False)
    quoting = settings.model_copy(update={"model": ModelSettings(provider="none")})
    async with ObedientModel() as model, open_scratch(quoting, [source], embedder=embedder) as scratch:
        pipelines: dict[Way, Pipeline] = {
            "extraction": scratch.pipeline,
            "obedient model": obedient(scratch, settings, model),
            "obedient model, numbered": obedient(scratch, settings, model, native_citations=False),
        }
        yield AttackRange(pipelines=pipelines, model=model)


def _allowed(answer: Answer) -> set[str]:
    """Returns addresses of the pages cited, quoted or offered, and those that a cited or quoted page itself links."""
    cited = [source.chunk for source in (*answer.citations, *(quote.citation for quote in answer.quotes))]
    return {
        *(chunk.url for chunk in cited),
        *(chunk.page.url for chunk in cited),
        *(page.url for page in answer.nearest),
        *(link for chunk in cited for link in _links(chunk.text)),
    }


def _links(markdown: str) -> Iterable[str]:
    """Yields what a page shows as a link; a mere address in its text does not count."""
    for token in MarkdownIt("commonmark").parse(markdown):
        for child in token.children or ():
            if child.type in ("link_open", "image"):
                yield str(child.attrGet("href") or child.attrGet("src") or "")


def _table(outcomes: Sequence[Outcome]) -> Table:
    def harmless(way: Way, kind: str | None = None) -> str:
        chosen = [outcome for outcome in outcomes if outcome.way == way and kind in (None, outcome.kind)]
        return f"{sum(not outcome.wrong for outcome in chosen)} of {len(chosen)} harmless"

    rows = table("attack", *WAYS)
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        rows.add_row(kind, *(harmless(way, kind) for way in WAYS))
    rows.add_row("all", *(harmless(way) for way in WAYS))
    counts = Counter(outcome.way for outcome in outcomes if outcome.told)
    rows.add_row("the page's own words came out", *(str(counts[way]) for way in WAYS))
    return rows


def _lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.wrong:
            found = ", ".join(f"{wrong.kind} {wrong.found!r}" for wrong in outcome.wrong)
            yield f"{outcome.page}, {outcome.way}: {found}"
        if not outcome.reached:
            yield f"{outcome.page}, {outcome.way}: the page was not found"
    kinds = Counter(wrong.kind for outcome in outcomes for wrong in outcome.wrong)
    if kinds:
        yield ", ".join(f"{kind}: {number}" for kind, number in kinds.most_common())

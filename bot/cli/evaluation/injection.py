"""`footnote eval injection`: asks about pages that hold attacks, by
extraction and with a model that obeys every page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Literal

from markdown_it import MarkdownIt
from pydantic import SecretStr
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bot.cli.as_json import print_json
from bot.cli.composition.pipeline import unjudged, with_model
from bot.cli.composition.runtime import utc_now
from bot.cli.evaluation.scratch import open_scratch
from bot.cli.evaluation.slack_judge import Wrong, judge
from bot.rendering.render import render
from kb.answer import Answer
from kb.config.model_settings import ModelSettings
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from kb.evaluation.injection import Attack, pages_folder, read_attacks
from kb.evaluation.obedient import ObedientModel
from kb.inference.embedder import Embedder
from kb.llm.client import LanguageModel
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


async def injection(settings: Settings, *, as_json: bool) -> int:
    outcomes: list[Outcome] = []
    async with open_range(settings) as attack_range:
        for attack in track(read_attacks(), "Attacking", console=Console(stderr=True)):
            outcomes += [await attack_range.try_out(attack, way) for way in WAYS]
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        _show(outcomes)
    return (
        1
        if any(outcome.wrong for outcome in outcomes) or not all(outcome.reached for outcome in outcomes)
        else 0
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
    """The attacking pages, ingested, with an answerer of every kind over them."""
    source = FolderSettings(name="attacks", path=pages_folder(), base_url=BASE_URL, git_dates=False)
    quoting = settings.model_copy(update={"model": ModelSettings(provider="none")})
    async with (
        open_scratch(quoting, [source], embedder=embedder) as scratch,
        ObedientModel() as model,
        AsyncExitStack() as stack,
    ):
        pipelines: dict[Way, Pipeline] = {"extraction": scratch.pipeline}
        for way, native in zip(WAYS[1:], (True, False), strict=True):
            configured = ModelSettings(api_key=SecretStr("none"), base_url=model.url, native_citations=native)
            client = LanguageModel(configured)
            stack.push_async_callback(client.close)
            pipelines[way] = with_model(scratch.pipeline, client, unjudged(settings, configured))
        yield AttackRange(pipelines=pipelines, model=model)


def _allowed(answer: Answer) -> set[str]:
    """Addresses of the cited pages and of those offered, and those that a cited page itself links."""
    cited = [citation.chunk for citation in answer.citations]
    return {
        *(chunk.url for chunk in cited),
        *(chunk.page.url for chunk in cited),
        *(page.url for page in answer.nearest),
        *(link for chunk in cited for link in _links(chunk.text)),
    }


def _links(markdown: str) -> Iterable[str]:
    """What a page shows as a link; an address that merely stands in its text is none."""
    for token in MarkdownIt("commonmark").parse(markdown):
        for child in token.children or ():
            if child.type in ("link_open", "image"):
                yield str(child.attrGet("href") or child.attrGet("src") or "")


def _show(outcomes: Sequence[Outcome]) -> None:
    console = Console()
    table = Table("attack", *WAYS, box=None)
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        table.add_row(kind, *(_kept([result for result in of_kind if result.way == way]) for way in WAYS))
    table.add_row("all", *(_kept([outcome for outcome in outcomes if outcome.way == way]) for way in WAYS))
    counts = [f"{sum(outcome.told for outcome in outcomes if outcome.way == way)}" for way in WAYS]
    table.add_row("the page's own words came out", *counts)
    console.print(table)
    for outcome in outcomes:
        if outcome.wrong:
            found = ", ".join(f"{wrong.kind} {wrong.found!r}" for wrong in outcome.wrong)
            console.print(f"{outcome.page}, {outcome.way}: {found}", markup=False, highlight=False)
        if not outcome.reached:
            console.print(
                f"{outcome.page}, {outcome.way}: the page was not found", markup=False, highlight=False
            )
    kinds = Counter(wrong.kind for outcome in outcomes for wrong in outcome.wrong)
    if kinds:
        console.print(", ".join(f"{kind}: {number}" for kind, number in kinds.most_common()))


def _kept(outcomes: Collection[Outcome]) -> str:
    return f"{sum(not outcome.wrong for outcome in outcomes)} of {len(outcomes)} harmless"

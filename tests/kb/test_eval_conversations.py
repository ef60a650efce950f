"""Data sets, the walk, slices and reports on conversations small enough to work out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb.answer import Answer, Trace
from kb.config.model_settings import EmbedSettings
from kb.errors import SettingsError, UnavailableError
from kb.evaluation.conversations import GoldRewriter, Memory, TurnResult, walk
from kb.evaluation.corpus import cache_name, corpus_chunks, corpus_manifest, fill
from kb.evaluation.datasets import DataSet, read_conversations, read_data_set
from kb.evaluation.report import compare, make_report, read_report
from kb.index.embedded.index import EdgeIndex
from kb.models import Chunk, Hit, Outcome, Page, Question, Retrieved, Rewrite, Scores, Turn
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.result import RetrievalResult
from kb.rewriting.rewriter import NoRewriter
from tests.fakes.embedder import HashEmbedder

PASSAGES = [
    {"id": "mulch-1", "title": "Mulch", "text": "Mulch\nWood mulch is ground wood.", "parent": "mulch"},
    {"id": "mulch-2", "title": "Mulch", "text": "Wood mulch costs 45 euros.", "parent": "mulch"},
    {"id": "bark-1", "title": "Bark", "text": "Bark costs 62 euros.", "parent": "bark"},
    {"id": "bark-2", "title": "Bark", "text": "Bark costs 62 euros.", "parent": "bark"},
    {"id": "alone", "text": "Parcels travel by bicycle.", "url": "https://kb.example/alone"},
]
TALK = [
    ("What is mulch?", "What is mulch?", ["mulch-1"]),
    ("and the price?", "What does mulch cost?", ["mulch-2"]),
    ("And bark?", "What does bark cost?", ["bark-1"]),
    ("Thanks, noted.", "Thanks, noted.", []),
    ("what does Mulch cost", "What does mulch cost?", ["mulch-2"]),
]
Write = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Writes a data set; `talk` is question, gold rewrite and labels of each turn of conversation "c"."""

    def write(talk: Sequence[tuple[str, str, list[str]]] = TALK, *, skip: Sequence[int] = ()) -> Path:
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        lines, history = [], []
        for number, (question, gold, labels) in enumerate(talk, start=1):
            line = {"conversation_id": "c", "turn": number, "history": list(history), "question": question}
            line |= {"gold_rewrite": gold, "relevant_ids": labels, "reference_answer": f"Answer {number}."}
            if number not in skip:
                lines.append(line)
            history += [
                {"role": "user", "content": question},
                {"role": "assistant", "content": f"Answer {number}."},
            ]
        _write_lines(folder / "conversations.jsonl", lines)
        _write_lines(folder / "corpus.jsonl", PASSAGES)
        (folder / "duplicate_groups.json").write_text(json.dumps([["bark-1", "bark-2"]]))
        return folder

    return write


def _write_lines(file: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


class ScriptedPipeline:
    """Finds what it is told for each question, and remembers the threads that it was asked in."""

    outcome: Outcome = "answered"

    def __init__(self, found: Mapping[str, Sequence[str]], rewrites: Mapping[str, str] | None = None) -> None:
        self.threads: list[tuple[Turn, ...]] = []
        self._found = found
        self._rewrites = rewrites or {}

    async def find(self, question: Question, turns: Sequence[Turn] = ()) -> RetrievalResult:
        self.threads.append(tuple(turns))
        return self._find(question)

    async def answer(self, question: Question, turns: Sequence[Turn] = ()) -> Answer:
        self.threads.append(tuple(turns))
        found = self._find(question)
        return Answer(
            question=question.text,
            outcome=self.outcome,
            mode="extractive",
            language="en",
            trace=Trace(rewrite=found.rewrite, hits=tuple(found.hits), anchors=("mulch",)),
            timings_ms={"search": 2.0},
        )

    def turn(self, answer: Answer) -> Turn:
        return Turn(question=answer.question, answer="Our own answer.")

    def _find(self, question: Question) -> RetrievalResult:
        query = self._rewrites.get(question.text, question.text)
        rewrite = Rewrite(query=query, needs_rewrite=query != question.text, topics=("mulch",))
        hits = [_hit(one) for one in self._found.get(question.text, ())]
        return RetrievalResult(
            rewrite=rewrite, hits=hits, anchors=("mulch",), timings_ms={"search": 2.0, "total": 3.0}
        )


def _hit(passage: str) -> Hit:
    page = Page(
        id=f"page of {passage}", source="s", path=passage, title=passage.upper(), url="https://kb.example/p"
    )
    chunk = Chunk(id=passage, page=page, position=0, text="text", url=page.url)
    return Hit(chunk=chunk, scores=Scores(final=0.5))


async def walked(data: DataSet, pipeline: ScriptedPipeline, memory: Memory | None = None) -> list[TurnResult]:
    (talk,) = data.conversations
    return [result async for result in walk(pipeline, data, talk, memory or Memory())]


async def test_a_data_set_is_read_as_it_lies_in_its_folder(written: Write):
    data = read_data_set(written())
    assert (data.name, len(data.passages)) == ("tiny", 5)
    assert data.page_of["mulch-2"] == "mulch"
    assert data.page_of["alone"] == "alone"
    assert data.twins == {"bark-1": "bark-1", "bark-2": "bark-1"}
    (talk,) = data.conversations
    assert [turn.answer for turn in talk.turns] == [f"Answer {number}." for number in range(1, 6)]
    assert talk.turns[3].relevant == ()


def test_a_turn_without_a_line_is_taken_from_the_history(written: Write):
    data = read_data_set(written(skip=[2, 4]))
    (talk,) = data.conversations
    assert [turn.number for turn in talk.turns] == [1, 2, 3, 4, 5]
    assert talk.turns[1].question == "and the price?"
    assert talk.turns[1].answer == "Answer 2."
    assert talk.turns[1].gold_rewrite == talk.turns[1].question
    assert talk.turns[1].relevant == ()


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("corpus.jsonl", "{}\n", "corpus.jsonl, line 1: id: Field required"),
        ("conversations.jsonl", "no json\n", "conversations.jsonl, line 1: Invalid JSON"),
        ("duplicate_groups.json", '{"a": 1}', "list of lists"),
        (
            "corpus.jsonl",
            '{"id": "other", "text": "x"}\n',
            "3 labels name no passage of the corpus: 'bark-1'",
        ),
    ],
)
def test_a_data_set_of_another_form_is_refused(written: Write, file: str, text: str, reason: str):
    folder = written()
    (folder / file).write_text(text)
    with pytest.raises(SettingsError, match=reason):
        read_data_set(folder)


def test_a_missing_folder_is_a_setting_to_mend(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"corpus\.jsonl"):
        read_data_set(tmp_path / "nope")


def test_a_turn_that_neither_line_nor_history_tells_is_refused(tmp_path: Path):
    file = tmp_path / "conversations.jsonl"
    _write_lines(file, [{"conversation_id": "c", "turn": 2, "question": "and then?"}])
    with pytest.raises(SettingsError, match="lacks turn 1"):
        read_conversations(file)


async def test_slices_follow_the_gold_documents_and_the_words_of_the_gold_rewrite(written: Write):
    results = await walked(read_data_set(written()), ScriptedPipeline({}))
    assert [set(result.slices) for result in results] == [
        {"all", "first"},
        {"all", "stays", "follow_up"},
        {"all", "shifts", "follow_up"},
        set(),
        {"all", "returns"},  # its gold rewrite differs in case and a question mark only
    ]


async def test_every_turn_is_asked_in_the_thread_of_those_before(written: Write):
    found = {"What is mulch?": ["mulch-1", "mulch-2", "alone"], "and the price?": ["alone"]}
    pipeline = ScriptedPipeline(found, rewrites={"and the price?": "the price of mulch"})
    await walked(read_data_set(written()), pipeline, Memory(cited=1, keep=2))
    assert [len(thread) for thread in pipeline.threads] == [0, 1, 2, 3, 4]
    first, second = pipeline.threads[2]
    assert first == Turn(
        question="What is mulch?",
        answer="Answer 1.",
        topics=("mulch",),
        retrieved=(
            Retrieved(page_id="page of mulch-1", chunk_id="mulch-1", title="MULCH-1", cited=True),
            Retrieved(page_id="page of mulch-2", chunk_id="mulch-2", title="MULCH-2", cited=False),
        ),
    )
    assert second.rewritten == "the price of mulch"
    assert [one.chunk_id for one in second.retrieved] == ["alone"]


async def test_gold_passages_never_enter_the_thread(written: Write):
    pipeline = ScriptedPipeline({talk[0]: ["alone"] for talk in TALK})
    await walked(read_data_set(written()), pipeline)
    remembered = {one.chunk_id for turn in pipeline.threads[-1] for one in turn.retrieved}
    assert remembered == {"alone"}


async def test_own_answers_stand_in_the_thread_where_asked_for(written: Write):
    pipeline = ScriptedPipeline({"What is mulch?": ["mulch-1"]})
    results = await walked(read_data_set(written()), pipeline, Memory(answers="own"))
    assert {turn.answer for turn in pipeline.threads[-1]} == {"Our own answer."}
    assert len(pipeline.threads) == len(TALK)
    assert results[0].figures == (1.0, 1.0, 1.0, 1.0)
    assert (results[0].anchors, results[0].timings_ms) == (("mulch",), {"search": 2.0})


async def test_an_outage_is_no_measurement(written: Write):
    pipeline = ScriptedPipeline({})
    pipeline.outcome = "unavailable"
    with pytest.raises(UnavailableError):
        await walked(read_data_set(written()), pipeline, Memory(answers="own"))


async def test_a_labelled_turn_has_figures_and_another_has_none(written: Write):
    found = {"What is mulch?": ["alone", "mulch-1"], "And bark?": ["bark-2"]}
    results = await walked(read_data_set(written()), ScriptedPipeline(found))
    assert results[0].figures == pytest.approx((1.0, 1 / np.log2(3), 1.0, 0.5))
    assert results[1].figures == (0.0, 0.0, 0.0, 0.0)
    assert results[2].figures == (1.0, 1.0, 1.0, 1.0)  # a twin of the gold passage
    assert results[3].figures is None


async def test_a_report_tells_every_slice_and_survives_its_file(written: Write, tmp_path: Path):
    data = read_data_set(written())
    found = {"What is mulch?": ["mulch-1"], "and the price?": ["alone", "mulch-2"]}
    results = await walked(data, ScriptedPipeline(found))
    report = make_report(data, results, config={"rewriter": "off"}, versions={"code": "1"}, seconds=1.26)
    file = tmp_path / "out.json"
    file.write_text(report.model_dump_json(by_alias=True))
    told = json.loads(file.read_text())
    assert told["slices"]["all"]["n"] == 4
    assert told["slices"]["all"]["recall@5"] == pytest.approx(2 / 4)
    assert told["slices"]["all"]["mrr"] == pytest.approx((1 + 0.5) / 4)
    assert told["slices"]["follow_up"]["recall@5"] == pytest.approx(1 / 2)
    assert told["slices"]["first"]["ci95"]["ndcg@5"] == [1.0, 1.0]
    assert (told["seconds"], told["latency_ms"]["search"]["p50"]) == (1.3, 2.0)
    assert told["counts"] == {
        "turns": 5, "labelled": 4, "rewritten": 0, "follow_ups_noticed": 0, "anchored": 5, "asked_back": 0,
    }  # fmt: skip
    assert read_report(file) == report


async def test_a_slice_without_turns_has_no_figures(written: Write):
    data = read_data_set(written(TALK[:1]))
    report = make_report(data, await walked(data, ScriptedPipeline({})), config={}, versions={}, seconds=0.0)
    assert report.slices["returns"].model_dump(exclude_none=True) == {"n": 0, "ci95": {}}


async def test_a_comparison_is_paired_and_names_what_differs(written: Write):
    data = read_data_set(written())
    worse = await walked(data, ScriptedPipeline({"What is mulch?": ["alone", "mulch-1"]}))
    better = await walked(data, ScriptedPipeline({"What is mulch?": ["mulch-1"]}))
    knobs = {"rewriter": "heuristic", "settings": {"search": {"keep": 5}}}
    before = make_report(data, worse, config=knobs | {"rewriter": "off"}, versions={"code": "1"}, seconds=1.0)
    after = make_report(data, better, config=knobs, versions={"code": "1"}, seconds=2.0)
    difference = compare(after, before)
    assert difference.differs == {"config.rewriter": "heuristic / off"}
    assert difference.slices["first"].mrr == pytest.approx(0.5)
    assert difference.slices["all"].mrr == pytest.approx(0.5 / 4)
    assert difference.slices["follow_up"].mrr == 0.0
    assert compare(before, after).slices["first"].mrr == pytest.approx(-0.5)


async def test_results_of_other_questions_are_not_compared(written: Write):
    data = read_data_set(written())
    report = make_report(data, await walked(data, ScriptedPipeline({})), config={}, versions={}, seconds=0.0)
    other = report.model_copy(update={"questions_hash": "another"})
    with pytest.raises(SettingsError, match="cannot be paired"):
        compare(report, other)


def test_a_file_that_is_no_result_is_refused(tmp_path: Path):
    file = tmp_path / "other.json"
    file.write_text('{"passed": 3}')
    with pytest.raises(SettingsError, match="no result of"):
        read_report(file)


class Judge:
    """Takes everything for a follow-up that cannot be understood."""

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        return Rewrite(
            query="guess", needs_rewrite=True, is_follow_up=True, topics=("t",), confidence=0.3, clarify=True
        )


async def test_the_gold_rewriter_gives_the_gold_query_and_leaves_the_rest_to_its_judge(written: Write):
    data = read_data_set(written())
    gold = GoldRewriter(data.conversations, Judge())
    rewrite = await gold.rewrite(
        "and the price?", [Turn(question="What is mulch?", answer="?")], language="en"
    )
    assert (rewrite.query, rewrite.needs_rewrite, rewrite.clarify) == ("What does mulch cost?", True, False)
    assert (rewrite.is_follow_up, rewrite.topics) == (True, ("t",))


async def test_the_gold_rewriter_leaves_a_question_that_stands_alone_as_it_is(written: Write):
    data = read_data_set(written())
    thread = [Turn(question=question, answer="") for question, _, _ in TALK[:4]]
    rewrite = await GoldRewriter(data.conversations, NoRewriter()).rewrite(TALK[4][0], thread, language="en")
    assert (rewrite.query, rewrite.needs_rewrite) == ("what does Mulch cost", False)


async def test_the_gold_rewriter_leaves_a_thread_that_it_does_not_know_to_its_judge(written: Write):
    gold = GoldRewriter(read_data_set(written()).conversations, Judge())
    assert (await gold.rewrite("and the price?", [], language="en")).query == "guess"


def test_a_cached_index_is_named_by_what_its_vectors_depend_on(written: Write):
    folder = written()
    data, settings = read_data_set(folder), EmbedSettings()
    name = cache_name(data, settings, embedder="m")
    other = settings.model_copy(update={"batch_size": 3})
    assert name.startswith("tiny-")
    assert name == cache_name(read_data_set(folder), other, embedder="m")
    assert name != cache_name(data, settings, embedder="m int8")
    assert name != cache_name(data, settings.model_copy(update={"query_prompt": "query: "}), embedder="m")
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write('{"id": "new", "text": "New."}\n')
    assert name != cache_name(read_data_set(folder), settings, embedder="m")


def test_passages_of_one_document_are_one_page_and_say_their_title_once(written: Write):
    pages = dict(corpus_chunks(read_data_set(written())))
    assert {page: [chunk.id for chunk in chunks] for page, chunks in pages.items()} == {
        "mulch": ["mulch-1", "mulch-2"],
        "bark": ["bark-1", "bark-2"],
        "alone": ["alone"],
    }
    assert pages["mulch"][0].embedded_text == "Mulch\nWood mulch is ground wood."
    assert pages["alone"][0].url == "https://kb.example/alone"


async def test_passages_are_embedded_once_and_a_killed_run_is_continued(written: Write, tmp_path: Path):
    data, embedder, lexical = read_data_set(written()), HashEmbedder(), LexicalEncoder()
    manifest = corpus_manifest(embedder=embedder.name, dimension=embedder.dimension)
    index = EdgeIndex(tmp_path / "index", manifest=manifest)
    steps: list[tuple[int, int]] = []
    try:
        done = await fill(
            index,
            data,
            embedder=embedder,
            lexical=lexical,
            on_progress=lambda one, of: steps.append((one, of)),
        )
        assert (done, steps) == (5, [(5, 5)])
        assert (await index.counts()).chunks == 5
        await index.delete_pages(["bark"])
        assert await fill(index, data, embedder=embedder, lexical=lexical) == 2
        assert await fill(index, data, embedder=embedder, lexical=lexical) == 0
        assert [len(call) for call in embedder.calls] == [5, 2]
    finally:
        await index.close()


def test_a_corpus_lends_its_passages_without_an_index(written: Write):
    data = read_data_set(written())
    assert sorted(chunk.id for _, chunks in corpus_chunks(data) for chunk in chunks) == sorted(data.page_of)

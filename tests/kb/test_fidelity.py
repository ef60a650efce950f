"""What a page lost, added and moved is found: faults as parsers make them are planted in what the index holds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kb.evaluation.fidelity.archives import slides_as_html
from kb.evaluation.fidelity.comparison import Fidelity, Held, compared
from kb.evaluation.fidelity.markup import read_html, read_markdown
from kb.evaluation.fidelity.originals import original
from kb.evaluation.fidelity.reading import Reading, reading_of
from kb.evaluation.fidelity.tools import MissingToolError, UncheckedError
from tests.fakes.documents import a_pptx

PAGE = """<html><body><h1>Leave</h1>
<p>Everybody gets 25 days, paid at 7.5% more from 2025-12-31.</p>
<p>Ask your <b>lead</b> first, then the office.</p>
<table><tr><th>Office</th><th colspan="2">Days</th></tr>
<tr><td>Ghent</td><td>25</td><td>3</td></tr><tr><td>Lille</td><td>30</td><td>4</td></tr></table>
<pre>
leave:
    days: 25
</pre></body></html>"""
TABLE = "| Office | Days | Days |\n| --- | --- | --- |\n| Ghent | 25 | 3 |\n| Lille | 30 | 4 |"
INDEXED = f"""# Leave

Everybody gets 25 days, paid at 7.5% more from 2025-12-31.

Ask your **lead** first, then the office.

{TABLE}

```yaml
leave:
    days: 25
```"""


def against(source: str | Reading, page: str, passages: str | None = None, *, repeated: str = "") -> Fidelity:
    reading = read_html(source) if isinstance(source, str) else source
    held = Held(
        page=read_markdown(page), passages=read_markdown(passages or page), repeated=repeated or "Leave"
    )
    return compared(reading, held)


def test_a_page_that_is_read_well_has_lost_added_and_moved_nothing() -> None:
    found = against(PAGE, INDEXED)
    assert (found.lost, found.added, found.moved, found.lost_cells, found.lost_code) == ((), (), (), (), ())
    assert found.words.share == found.numbers.share == found.cells.share == found.code.share == 1.0
    assert found.dates.all == found.dates.kept == 1


@pytest.mark.parametrize("word", ["everybody", "lead", "office", "ghent"])
def test_a_word_that_a_parser_drops_is_found(word: str) -> None:
    broken = INDEXED.replace(word, "").replace(word.capitalize(), "")
    found = against(PAGE, broken)
    assert set(found.lost) == {word}
    assert found.words.share is not None
    assert found.words.share < 1


def test_a_word_that_a_parser_adds_is_found() -> None:
    found = against(PAGE, INDEXED.replace("lead", "lead undefined"))
    assert (found.lost, found.added) == ((), ("undefined",))


def test_a_paragraph_that_a_parser_moves_is_found() -> None:
    first, second = (
        "Everybody gets 25 days, paid at 7.5% more from 2025-12-31.",
        "Ask your **lead** first, then the office.",
    )
    moved = INDEXED.replace(first, "@").replace(second, first).replace("@", second)
    found = against(PAGE, moved)
    assert found.lost == found.added == ()
    assert {"ask", "your", "lead"} <= set(found.moved)


@pytest.mark.parametrize(
    ("written", "read", "lost"),
    [
        ("7.5%", "0.075", "7.5%"),
        ("00007", "7", "00007"),
        ("9:30", "1899-12-31 09:30:00", "9:30"),
        ("-5", "5", "-5"),
        ("€ 1,200.50", "1,200.50", "€1,200.50"),
        ("1,200", "1200", "1,200"),
    ],
)
def test_a_number_that_is_written_in_another_way_is_lost(written: str, read: str, lost: str) -> None:
    found = against(f"<p>The value is {written} today</p>", f"The value is {read} today")
    assert lost in found.lost
    assert found.numbers.kept < found.numbers.all


def test_words_that_are_joined_are_lost() -> None:
    found = against("<p>Chapter\t3 eligibility of trustees</p>", "Chapter 3eligibility of trustees")
    assert found.lost == ("eligibility", "3")
    assert found.added == ("3eligibility",)


def test_a_word_that_the_page_has_but_no_passage_is_lost() -> None:
    found = against(PAGE, INDEXED, INDEXED.replace("first", ""))
    assert found.lost == ("first",)


def test_a_header_that_passages_repeat_is_no_addition() -> None:
    head, rows = TABLE.split("\n| Ghent")
    cut = INDEXED.replace("\n| Lille", f"\n\n{head}\n| Lille")
    assert rows
    assert against(PAGE, INDEXED, cut).added == ()


def test_a_cell_under_another_header_is_lost() -> None:
    shifted = INDEXED.replace("| Office | Days | Days |", "| Days | Days | Office |")
    found = against(PAGE, shifted)
    assert found.words.share == 1.0
    assert "office: ghent" in found.lost_cells
    assert found.cells.kept < found.cells.all


def test_rows_that_became_prose_have_lost_their_cells() -> None:
    prose = INDEXED.replace(TABLE, "Office Days Days Ghent 25 3 Lille 30 4")
    found = against(PAGE, prose, repeated="Leave Days")
    assert found.words.share == 1.0
    assert found.cells.kept == 0


def test_a_cell_over_several_columns_or_rows_may_be_told_in_each_of_them() -> None:
    page = (
        "<table><tr><th>Team</th><th>Day</th></tr><tr><td rowspan=2>Ghent</td><td>Monday</td></tr>"
        "<tr><td>Friday</td></tr></table>"
    )
    repeated = "| Team | Day |\n| --- | --- |\n| Ghent | Monday |\n| Ghent | Friday |"
    found = against(page, repeated)
    assert (found.lost, found.added, found.cells.share) == ((), (), 1.0)


def test_headers_in_two_rows_may_stand_as_one() -> None:
    page = (
        "<table><thead><tr><th rowspan=2>Office</th><th colspan=2>Days</th></tr><tr><th>Paid</th><th>Unpaid</th></tr></thead>"
        "<tr><td>Ghent</td><td>25</td><td>3</td></tr></table>"
    )
    assert (
        against(page, "| Office | Days Paid | Days Unpaid |\n|---|---|---|\n| Ghent | 25 | 3 |").cells.share
        == 1.0
    )
    swapped = against(page, "| Office | Days Unpaid | Days Paid |\n|---|---|---|\n| Ghent | 25 | 3 |")
    assert swapped.lost_cells == ("days paid: 25", "days unpaid: 3")


def test_a_line_of_code_with_another_indentation_is_lost() -> None:
    found = against(PAGE, INDEXED.replace("    days: 25\n", "days: 25\n"))
    assert found.lost_code == ("    days: 25",)


def test_what_nobody_sees_makes_no_difference() -> None:
    page = "<p>The oﬃce\u00a0pays \u200bfor co\u00adoperation: WIR fahren – Ａ１２</p>"
    found = against(page, "The office pays for cooperation: wir fahren - A12")
    assert (found.lost, found.added) == ((), ())


def test_a_word_that_a_line_cut_is_one_word_or_two() -> None:
    paper = reading_of("The exam-\nple of a well-\nknown page")
    assert against(paper, "The example of a well-known page").lost == ()
    assert against(paper, "The exa of a well-known page").lost == ("exam", "ple")


def test_hidden_words_are_counted_apart() -> None:
    page = '<nav>Home About</nav><p>Leave</p><p style="display:none">secret words</p><p hidden>more</p>'
    left_out, kept = against(page, "Leave"), against(page, "Home About\n\nLeave\n\nsecret words")
    assert (left_out.lost, left_out.apart) == ((), 5)
    assert (kept.added, kept.apart) == ((), 1)


def test_addresses_of_links_are_no_words_and_names_of_pictures_neither() -> None:
    found = against(
        '<p><a href="https://example.org/handbook">the handbook</a><img alt="IMG_1.png" src="x.png"></p>',
        "[the handbook](https://example.org/handbook)",
    )
    assert (found.lost, found.added) == ((), ())


def test_code_that_looks_like_a_mark_of_the_index_stays_code() -> None:
    found = against("<p><code>[^a-z]</code> and <code>&lt;br&gt;</code></p>", "`[^a-z]` and `<br>`")
    assert (found.lost, found.added) == ((), ())


def test_each_character_is_a_word_where_none_are_spaced() -> None:
    found = against("<p>年次休暇は二十五日</p>", "年次休暇は二十日")
    assert found.lost == ("五",)


def test_slides_are_read_in_their_order() -> None:
    page = read_html(slides_as_html(a_pptx([("Leave", "25 days"), ("Pay", "monthly")])))
    assert page.words == ("leave", "25", "days", "pay", "monthly")


def test_a_sheet_of_values_has_the_headers_of_its_fullest_first_line() -> None:
    page = original(b"Leave 2026;\nOffice;Days\nGhent;25\n", path="leave.csv", kind="csv")
    found = against(page, "Leave 2026\n\n| Office | Days |\n|---|---|\n| Ghent | 25 |")
    assert (found.lost, found.cells.all, found.cells.kept) == ((), 2, 2)


def test_a_mail_is_its_text_and_its_headers_may_be_told() -> None:
    mail = (
        b"From: Ann <ann@example.org>\r\nSubject: Leave\r\nContent-Type: text/plain\r\n\r\nTake 25 days.\r\n"
    )
    found = against(original(mail, path="leave.eml", kind="eml"), "# Leave\n\nFrom Ann\n\nTake 25 days.")
    assert (found.lost, found.added, found.words.all) == ((), (), 2)


def test_front_matter_is_no_text_and_a_note_between_rulers_is() -> None:
    fields = original(b"---\ntitle: Leave\n---\nTake it.\n", path="leave.txt", kind="txt")
    note = original(b"---\nThis page moved.\n---\nTake it.\n", path="leave.txt", kind="txt")
    assert fields.words == ("take", "it")
    assert note.words == ("this", "page", "moved", "take", "it")


def test_confluence_is_read_without_its_macros_parameters() -> None:
    page = (
        b'<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">bash</ac:parameter>'
        b"<ac:plain-text-body><![CDATA[run {{ this }}]]></ac:plain-text-body></ac:structured-macro><p>Caf&eacute;</p>"
    )
    found = against(original(page, path="page.xml", kind="storage"), "```bash\nrun {{ this }}\n```\n\nCafé")
    assert (found.lost, found.added, found.code.share) == ((), (), 1.0)


def test_without_a_program_the_format_is_unchecked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="pandoc is not installed"):
        original(b"# Leave", path="leave.md", kind="md")
    with pytest.raises(MissingToolError, match="poppler-utils"):
        original(b"%PDF", path="leave.pdf", kind="pdf")
    with pytest.raises(UncheckedError, match=r"nothing else reads \.msg"):
        original(b"", path="leave.msg", kind="msg")


def test_a_file_that_the_second_reader_cannot_read_is_unchecked() -> None:
    with pytest.raises(UncheckedError, match="no archive"):
        original(b"not a zip", path="leave.pptx", kind="pptx")
    with pytest.raises(UncheckedError):
        original(b"{", path="leave.ipynb", kind="ipynb")


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_markdown_is_read_as_its_readers_see_it() -> None:
    page = original(
        b"---\nlayout: page\n---\nSet {% raw %} a \\<name> to `{{ x }}`[^1]\n\n[^1]: A note.\n",
        path="page.md",
        kind="md",
    )
    assert page.words == ("set", "a", "name", "to", "a", "note")
    assert "raw" in page.apart
    plain = original(b"image.tag is {{ image.tag }} and {% done %}\n", path="page.md", kind="md")
    assert plain.words == ("image", "tag", "is", "image", "tag", "and", "done")


def test_numbers_of_a_list_are_kept_as_they_are_written() -> None:
    typed = "<p>2016. Ghent opens.</p><p>2013. Lille opens.</p>"
    assert against(typed, "2016. Ghent opens.\n2013. Lille opens.").lost == ()
    assert against(typed, "- Ghent opens.\n- Lille opens.").lost == ("2016", "2013")

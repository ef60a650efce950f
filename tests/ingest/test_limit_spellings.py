"""However an author writes who may read a page: it is understood, or the page is closed and the report says why."""

from __future__ import annotations

import json

import pytest

from ingest.errors import PageError
from ingest.front_matter import split_front_matter
from ingest.parsers.formats import parse_file
from ingest.parsers.text import decoded
from tests.fakes.documents import a_docx, a_zip, paragraph
from tests.fakes.limit_spellings import BODY, SECRET, Spelling, spellings
from tests.fakes.shared import shared

ALL = list(spellings())
EVERY = 7
"""Of other kinds of files; the spellings of one kind stand beside each other."""


def is_open(spelling: Spelling, name: str) -> bool:
    """Closed for another reason than a limit counts as open: an earlier text of the page would stay."""
    try:
        page = parse_file(spelling.text.encode(), path=name)
    except PageError as error:
        return not error.withdraw
    return page.front.audience is None


def test_no_spelling_leaves_a_page_open() -> None:
    assert len(ALL) > 1000
    assert [one.shown for one in ALL if is_open(one, "pay.md")] == []


@pytest.mark.parametrize("name", ["pay.txt", "pay.html", "pay.rst", "pay.org", "pay.mdx", "pay.csv"])
def test_no_spelling_leaves_another_kind_of_file_open(name: str) -> None:
    assert [one.shown for one in ALL[::EVERY] if is_open(one, name)] == []


@pytest.mark.parametrize("gap", [" ", ":\n", ":" + 109 * " ", ":" + 110 * " "])
@pytest.mark.parametrize("before", ["", "#a\n", "x: @a\n", "audi\n", "ence\n", "@a audi; "])
def test_a_limit_among_thousands_of_other_names_of_slack_is_found(before: str, gap: str) -> None:
    with pytest.raises(PageError) as caught:
        parse_file(
            f"How we pay people, by band.\n\n{3_000 * before}\naudience{gap}#leads\n".encode(), path="pay.md"
        )
    assert caught.value.withdraw


@pytest.mark.parametrize(
    "text",
    [
        "# Pay\n\nAudience: all staff who joined before May.\n",
        "# Pay\n\nAudience: engineers\n\nHow we pay.\n",
        "Audience: all staff who joined before May. Ask in #people.\n",
        "# Pay\n\nThe audience is everybody who is paid.\n\n## Audience\n\nEverybody in #general reads this.\n",
        "# Pay\n\nSlack channel: #help-pay\nOwner: @ann\n",
        "# Pay\n\n## Channels\n\n- #general\n- #random\n",
        "# Access\n\nAsk in #help-access for access.\n\nAccess: #help-access\n",
        "# Pay\n\n1. [Audience](#audience)\n2. [Visibility](#visibility)\n",
        "# Tokens\n\nOur API checks whom a token is for.\n\n```json\n{\"audience\": \"#api\", \"private\": true}\n```\n",
        "# Limits\n\nA page names its readers in its front matter: write `audience: '#leads'` there.\n\n    audience: '#leads'\n",
        "# Private endpoints\n\nprivate: true makes a subnet private.\n\n---\n\nAn internal: restricted network.\n",
        "| Field | Meaning |\n|---|---|\n| audience | who reads it |\n| visibility | private or public |\n",
        "---\ntitle: Restricted access\ntags: [private-link, secret, sensitive data]\nowner_slack: '#help'\nteam: '@people'\ncolor: '#ff0000'\n---\n# Pay\n",
        "---\naudience: everyone\n---\n# Meetings\n\n| Meeting | Audience |\n|---|---|\n| All hands | #general |\n\nAudience: #general\n",
        "---\nvisibility: public\naccess: open\nprivate: false\nstatus: red\n---\n# Pay\n\nText.\n",
        "---\naudience: everyone\ntags: [private]\n---\n# Pay\n\nText.\n",
        "---\naudience: everyone # or for example audience: people-leads\n---\n# Pay\n\nText.\n",
        "---\nclassification: Not confidential\nsensitivity: low\nencryption: none\nread_only: true\nmobile-only: true\n---\n# Pay\n\nText.\n",
        "---\nslack_channel: '#help'\nsupport_channel: '#help'\nissue: '#123'\ntheme: '#fff'\nslack: {help: '#help'}\nhashtags: ['#pay']\n---\n# Pay\n\nText.\n",
        "---\ntitle: 'Audience: engineers' # why this one\nhead: [[meta, {name: description, content: Pay}]]\nnotes: 'see: that'\n---\n# Pay\n\nText.\n",
        "# Pay\n\n**Audience:** all staff who manage budgets\n\nHow we pay.\n",
        "# Pay\n\n**Audience:** engineers\n\n**Readers:** Developers, testers\n\nHow we pay people by band.\n",
        "# Pay\n\n**Audience:** everyone\n\n- **Audience:** Everyone in the company\n\nHow we pay people by band.\n",
        "# Pay\n\nHow we pay people by band.\n\n**Audience:** people-leads\n\nWe wrote that in an earlier page.\n",
        "# Tags\n\nHow we write pages in XML here: `<audience>` names readers, `<!-- audience: x -->` does not.\n\n```xml\n<audience>x</audience>\n```\n",
        "# Sign-in\n\nHow a service reads a token of ours.\n\n    <saml:Audience>x</saml:Audience>\n\n!!! note\n    The audience is the service.\n",
        "<!-- For whom: the audience of this page = people who are new here and want to learn -->\n# Pay\n\nText.\n",
        "# Pay\n\nHow we pay people by band.\n\n<details>\n<summary>More</summary>\n\nAudience: people who are new.\n\n</details>\n",
        "# Pay\n\n* Lock :lock:\n* Private :key:\n\n.. only:: html\n\n   Text.\n\n:Author: Ann\n",
        "<!-- Visible to nobody: a reminder for writers. Private: see below. -->\n# Pay\n\nText.\n",
    ],
)  # fmt: skip
def test_words_of_an_ordinary_page_do_not_close_it(text: str) -> None:
    assert parse_file(text.encode(), path="pay.md").front.audience is None


def test_no_page_of_a_real_handbook_is_closed() -> None:
    closed = []
    pages = [
        path
        for path in shared("data/kb").rglob("*")
        if path.suffix in (".md", ".erb", ".mdx", ".html", ".txt")
    ]
    for path in pages:
        try:
            front, _ = split_front_matter(decoded(path.read_bytes()))
        except PageError as error:
            if not error.left_out:
                closed.append((path.name, error.reason))
            continue
        assert front.audience is None
    assert len(pages) > 1000
    assert closed == []


def properties(*pairs: tuple[str, str]) -> str:
    written = "".join(
        f'<property name="{name}" pid="2"><lpwstr>{value}</lpwstr></property>' for name, value in pairs
    )
    return f"<Properties>{written}</Properties>"


def a_notebook(**metadata: object) -> bytes:
    cells = [{"cell_type": "markdown", "source": BODY}]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}).encode()


def a_word_file(*pairs: tuple[str, str]) -> bytes:
    return a_docx(body=paragraph(SECRET), extra={"docProps/custom.xml": properties(*pairs)})


def an_opendocument(name: str, value: str) -> bytes:
    names = "urn:oasis:names:tc:opendocument:xmlns"
    return a_zip({
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": f'<o:document-content xmlns:o="{names}:office:1.0" xmlns:t="{names}:text:1.0"><o:body><o:text><t:p>{SECRET}</t:p>'
        "</o:text></o:body></o:document-content>",
        "meta.xml": f'<o:document-meta xmlns:o="{names}:office:1.0" xmlns:meta="{names}:meta:1.0"><o:meta>'
        f'<meta:user-defined meta:name="{name}">{value}</meta:user-defined></o:meta></o:document-meta>',
    })  # fmt: skip


HTML = "<html><head>{}</head><body><h1>Pay</h1><p>Band 3 earns 5817.</p></body></html>"
MAIL = "Subject: Pay\nFrom: ann@example.com\n{}\n\nBand 3 earns 5817.\n"
LIMITED = [
    ("pay.html", HTML.format('<meta name="audience" content="#leads">').encode()),
    ("pay.html", HTML.format("<META CONTENT='#leads' NAME='Audience'>").encode()),
    ("pay.ipynb", a_notebook(audience=["#leads"])),
    ("pay.ipynb", a_notebook(footnote={"audience": "#leads"})),
    ("pay.docx", a_word_file(("Audience", "#leads"))),
    ("pay.odt", an_opendocument("audience", "#leads")),
    ("pay.eml", MAIL.format("X-Audience: #leads").encode()),
    ("pay.csv", b"---\naudience: '#leads'\n---\nband,pay\n3,5817\n"),
]
CLOSED = [
    ("pay.html", HTML.format('<meta name="audience" content="leaders only">').encode()),
    ("pay.html", HTML.format('<meta property="og:visibility" content="private">').encode()),
    ("pay.html", HTML.format("<!-- audience: '#leads' -->").encode()),
    ("pay.html", HTML.format('<meta name="audience" content="#leads"><meta name="audience" content="everyone">').encode()),
    ("pay.html", b'<html><body data-audience="#leads"><h1>Pay</h1><p>Band 3 earns 5817.</p></body></html>'),
    ("pay.ipynb", a_notebook(seo={"audience": "#leads"})),
    ("pay.ipynb", a_notebook(private=True)),
    ("pay.docx", a_word_file(("audience", "leaders only"))),
    ("pay.docx", a_word_file(("MSIP_Label_1f2a_Enabled", "true"), ("MSIP_Label_1f2a_Name", "Highly Confidential"))),
    ("pay.docx", a_docx(body=paragraph("Audience: #leads") + paragraph(SECRET))),
    ("pay.odt", an_opendocument("Visibility", "private")),
    ("pay.eml", MAIL.format("Sensitivity: Company-Confidential").encode()),
    ("pay.csv", b"# audience: #leads\nband,pay\n3,5817\n"),
    ("pay.csv", b"audience,#leads\nband,pay\n3,5817\n"),
    ("pay.csv", b"---\nTLP: red\n---\nband,pay\n3,5817\n"),
    ("pay.csv", b"---\nsensitivity: high\n---\nband,pay\n3,5817\n"),
    ("pay.tsv", b"---\nnot_for: contractors\n---\nband\tpay\n3\t5817\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), LIMITED)
def test_properties_of_a_document_limit_it(name: str, content: bytes) -> None:
    assert parse_file(content, path=name).front.audience == ("#leads",)


@pytest.mark.parametrize(("name", "content"), CLOSED)
def test_properties_that_are_not_understood_close_the_document(name: str, content: bytes) -> None:
    with pytest.raises(PageError) as caught:
        parse_file(content, path=name)
    assert caught.value.withdraw


def test_the_sentence_names_the_properties() -> None:
    with pytest.raises(PageError, match=r"^its properties says? `private: True`: name its readers"):
        parse_file(a_notebook(private=True), path="pay.ipynb")

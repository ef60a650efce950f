"""However an author writes who may read a page: it is understood, or the page is closed and the report says why."""

from __future__ import annotations

import json

import pytest

from ingest.errors import PageError
from ingest.front_matter.page_fields import split_front_matter
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
        "# Pay\n\n## Audience\n\nDevelopers\n\n## Access\n\nAsk in #help.\n",
        "# Pay\n\n| Audience | Owner |\n|---|---|\n| developers | Ann |\n\nVisibility: good\nStatus: stable\nAccess - open\n",
        "# Tags\n\nHow we write pages in XML here: `<audience>` names readers, `<!-- audience: x -->` does not.\n\n```xml\n<audience>x</audience>\n```\n",
        "# Sign-in\n\nHow a service reads a token of ours.\n\n    <saml:Audience>x</saml:Audience>\n\n!!! note\n    The audience is the service.\n",
        "<!-- For whom: the audience of this page = people who are new here and want to learn -->\n# Pay\n\nText.\n",
        "# Pay\n\nHow we pay people by band.\n\n<details>\n<summary>More</summary>\n\nAudience: people who are new.\n\n</details>\n",
        "# Pay\n\n* Lock :lock:\n* Private :key:\n\n.. only:: html\n\n   Text.\n\n:Author: Ann\n",
        "---\nauth: jwt\nlogin: page\nteam: hr\nlocked: true\nclosed: true\nsolo_lectura: sí\nnotes: none\npolicy: leave\ntags: [interno, beperkt, secreto]\n---\n# Pay\n\nText.\n",
        "<!-- Visible to nobody: a reminder for writers. Private: see below. -->\n# Pay\n\nText.\n",
    ],
)  # fmt: skip
def test_words_of_an_ordinary_page_do_not_close_it(text: str) -> None:
    assert parse_file(text.encode(), path="pay.md").front.audience is None


@pytest.mark.series
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


def a_notebook_of(cell: dict[str, object], **top: object) -> bytes:
    cells = [{"cell_type": "markdown", "source": BODY, "metadata": cell}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, **top}).encode()


def a_word_file_with_core(said: str) -> bytes:
    of = 'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    return a_docx(
        body=paragraph(SECRET),
        extra={"docProps/core.xml": f"<cp:coreProperties {of}>{said}</cp:coreProperties>"},
    )


def a_word_file_of_other_paths(target: str) -> bytes:
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = "".join(
        f'<Relationship Id="r{at}" Type="{kinds}/{kind}" Target="{path}"/>'
        for at, (kind, path) in enumerate(
            [("officeDocument", "word/document.xml"), ("custom-properties", target)]
        )
    )
    of = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    extra = {
        "_rels/.rels": f"<Relationships {of}>{relations}</Relationships>",
        "props/mine.xml": properties(("Audience", "#leads")),
    }
    return a_docx(body=paragraph(SECRET), extra=extra)


def a_content_control(title: str) -> bytes:
    control = f"<w:sdt><w:sdtPr>{title}</w:sdtPr><w:sdtContent>{paragraph('#leads')}</w:sdtContent></w:sdt>"
    return a_docx(body=control + paragraph(SECRET))


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
    ("pay.html", HTML.format("<meta name=audience value='#leads'>").encode()),
    ("pay.html", HTML.format('<meta name="DCTERMS.audience" content="#leads">').encode()),
    ("pay.ipynb", a_notebook_of({}, audience="#leads")),
    ("pay.docx", a_word_file_of_other_paths("props/mine.xml")),
    ("pay.docx", a_word_file_of_other_paths("/props/mine.xml")),
    ("pay.docx", a_content_control('<w:alias w:val="Audience"/>')),
    ("pay.docx", a_content_control('<w:alias w:val="For"/><w:tag w:val="audience"/>')),
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
    ("pay.html", HTML.format('<meta name="DC.accessRights" content="restricted">').encode()),
    ("pay.html", HTML.format('<meta name="dcterms.accessRights" content="Restricted to HR">').encode()),
    ("pay.html", HTML.format('<meta name="dc.rights.access" content="restricted">').encode()),
    ("pay.html", HTML.format('<meta name="keywords" content="pay, confidential">').encode()),
    ("pay.html", HTML.format('<link rel="audience" href="people-leads">').encode()),
    ("pay.html", HTML.format('<script type="application/ld+json">{"@type": "WebPage", "audience": "leads"}</script>').encode()),
    ("pay.html", HTML.format('<script type=application/ld+json>{"@graph": [{"audience": {"name": "leads"}}]}</script>').encode()),
    ("pay.html", HTML.format('<script type="application/ld+json">{"audience": "leads",}</script>').encode()),
    ("pay.html", b"<html><body><p itemprop=audience>leads</p><p>Band 3 earns 5817.</p></body></html>"),
    ("pay.html", b'<html><body><div data-visible-to="hr"><p>Band 3 earns 5817.</p></div></body></html>'),
    ("pay.html", b'<html><body><div data-visibility="private"><p>Band 3 earns 5817.</p></div></body></html>'),
    ("pay.html", b"<html><body><page-audience>leads</page-audience><p>Band 3 earns 5817.</p></body></html>"),
    ("pay.ipynb", a_notebook_of({"audience": "leads"})),
    ("pay.ipynb", a_notebook_of({"tags": ["private"]})),
    ("pay.ipynb", a_notebook_of({}, private=True)),
    ("pay.docx", a_word_file_with_core("<cp:category>Confidential</cp:category>")),
    ("pay.docx", a_word_file_with_core("<cp:category>Confidential - HR</cp:category>")),
    ("pay.docx", a_word_file_with_core("<cp:keywords>audience: #people-leads</cp:keywords>")),
    ("pay.docx", a_word_file_with_core("<cp:keywords>pay; audience: people-leads</cp:keywords>")),
    ("pay.org", b"How we pay people by band.\n* Pay\n:PROPERTIES:\n:AUDIENCE: leads\n:END:\nBand 3 earns 5817.\n"),
    ("pay.org", b"* Pay :private:\nBand 3 earns 5817.\n"),
    ("pay.org", b"#+FILETAGS: :pay:confidential:\nBand 3 earns 5817.\n"),
    ("pay.rst", b"Pay\n===\n\n:Audience: leads\n:Owner: Ann\n\nBand 3 earns 5817.\n"),
    ("pay.rst", b"Pay\n===\n\nHow we pay people by band.\n\n.. container:: audience\n\n   leads\n"),
    ("pay.rst", b"Pay\n===\n\n.. only:: leads\n\n   Band 3 earns 5817.\n"),
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


OPEN_FILES = [
    ("pay.html", HTML.format('<meta name="DC.accessRights" content="open access"><meta name="keywords" content="private-link, pay">').encode()),
    ("pay.html", HTML.format('<script type="application/ld+json">{"audience": {"@type": "Audience", "audienceType": "public"}}</script>').encode()),
    ("pay.html", HTML.format('<script>signIn({audience: "https://api.example.com"})</script>').encode()),
    ("pay.html", b'<html><body><div data-visibility="hidden" data-private="true"><p>Band 3 earns 5817.</p></div></body></html>'),
    ("pay.html", b"<html><body><p>Band 3 earns 5817, as <code>&lt;saml:Audience&gt;</code> has it.</p></body></html>"),
    ("pay.ipynb", a_notebook_of({"tags": ["hide-input"], "collapsed": True}, nbformat_minor=5)),
    ("pay.docx", a_word_file_with_core("<cp:category>Guide</cp:category><cp:keywords>pay, private-link</cp:keywords>")),
    ("pay.docx", a_content_control('<w:alias w:val="Author"/>')),
    ("pay.rst", b"Pay\n===\n\n:Author: Ann\n\n.. only:: html and not draft\n\n   Band 3 earns 5817.\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), OPEN_FILES)
def test_properties_that_limit_nobody_leave_a_document_open(name: str, content: bytes) -> None:
    assert parse_file(content, path=name).front.audience is None


def test_the_sentence_names_the_properties() -> None:
    with pytest.raises(PageError, match=r"^its properties says? `private: True`: name its readers"):
        parse_file(a_notebook(private=True), path="pay.ipynb")

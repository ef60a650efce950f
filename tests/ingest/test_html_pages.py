"""What a page of HTML says beside its paragraphs: warnings, folds, tabs, captions, numbered
code. In files, in Markdown and on websites, whether or not these mark their main content.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from ingest.parsers.markup.hidden_html import is_hidden
from tests.fakes.web_pages import parsed_from_web

Reader = Callable[[str], ParsedPage]
ABOVE = "<p>Customers may send back what they bought. The rules below hold for all orders, in all of our countries.</p>"
BELOW = "<p>Whoever has a question may write to the desk at any time, and will hear from us within two working days.</p>"
FRAME = (
    '<header><nav><a href="/">Home</a> <a href="/prices">Prices</a></nav></header>',
    "<footer>Copyright Acme, all rights reserved</footer>",
)


def of_a_file(html: str) -> ParsedPage:
    return parse_file(
        f"<body><main><h1>Returns</h1>{ABOVE}{html}{BELOW}</main></body>".encode(), path="a.html"
    )


def of_markdown(html: str) -> ParsedPage:
    return parse_file(f"# Returns\n\n{ABOVE}\n\n{html}\n\n{BELOW}\n".encode(), path="a.md")


def of_a_website(html: str) -> ParsedPage:
    return of_response(f"<main><h1>Returns</h1>{ABOVE}{html}{BELOW}</main>")


def of_a_website_of_divs(html: str) -> ParsedPage:
    return of_response(f'<div id="wrap"><div class="c1"><h1>Returns</h1>{ABOVE}{html}{BELOW}</div></div>')


def of_response(body: str) -> ParsedPage:
    page = f"<html><head><title>Returns | Acme</title></head><body>{FRAME[0]}{body}{FRAME[1]}</body></html>"
    return parsed_from_web(page, "help/returns")


@pytest.fixture(params=[of_a_file, of_markdown, of_a_website, of_a_website_of_divs])
def read(request: pytest.FixtureRequest) -> Reader:
    return request.param


@pytest.fixture(params=[of_a_website, of_a_website_of_divs])
def read_website(request: pytest.FixtureRequest) -> Reader:
    return request.param


def between(page: ParsedPage) -> str:
    """The text between the two paragraphs, its headings included."""
    text = page.as_markdown()
    assert text.startswith("# Returns\n\n")
    return text.partition(ABOVE[3:-4])[2].partition(BELOW[3:-4])[0].strip().replace("````", "```")


@pytest.mark.parametrize(
    "html",
    [
        '<aside aria-label="Caution" class="starlight-aside"><p>Caution</p><div><p>Never ship batteries by air.</p></div></aside>',
        '<div class="theme-admonition admonition alert"><div><span>Caution</span></div><div><p>Never ship batteries by air.</p></div></div>',
        '<aside role="note">Caution<p>Never ship batteries by air.</p></aside>',
        '<figure><img src="a.png" alt=""><figcaption>Caution</figcaption></figure><p>Never ship batteries by air.</p>',
        "<details>Caution<p>Never ship batteries by air.</p></details>",
        "<header>Caution</header><footer>Never ship batteries by air.</footer>",
    ],
)
def test_warnings_captions_and_notes_are_read_in_their_place(read: Reader, html: str) -> None:
    assert between(read(html)) == "Caution\n\nNever ship batteries by air."


@pytest.mark.parametrize(
    "html",
    [
        "<details><summary>Can I return <b>shoes</b>?</summary><p>Yes, within 45 days.</p></details>",
        "<details><summary><h3>Can I return shoes?</h3></summary><p>Yes, within 45 days.</p></details>",
        '<h3><button aria-expanded="false" aria-controls="p1">Can I return shoes?</button></h3><div id="p1" hidden><p>Yes, within 45 days.</p></div>',
        '<h4><a data-toggle="collapse" href="#c1">Can I return shoes?</a></h4><div id="c1" class="collapse" hidden>Yes, within 45 days.</div>',
        '<div role="button" aria-expanded="false" aria-controls="p9">Can I return shoes?</div><div id="p9" style="display: none">Yes, within 45 days.</div>',
        '<dl><dt><button aria-controls="a1">Can I return shoes?</button></dt><dd id="a1" hidden><p>Yes, within 45 days.</p></dd></dl>',
        '<button data-bs-target="#p2"><span>Can I return shoes?</span></button><div id="p2" role="region" hidden><p>Yes, within 45 days.</p></div>',
    ],
)
def test_answers_stand_below_the_questions_that_open_them(read: Reader, html: str) -> None:
    words = (
        between(read(html)).replace("*", "").replace("[", "").replace("](#c1)", "").strip("# ").lstrip(":")
    )

    assert " ".join(words.replace(" : ", " ").split()).replace("? : ", "? ") == (
        "Can I return shoes? Yes, within 45 days."
    )


@pytest.mark.parametrize(
    "html",
    [
        '<button class="acc">Can I return hats?</button><div class="panel"><p>No, never.</p></div>',
        '<button class="accordion">Can I return hats?</button><div style="display:none"><p>No, never.</p></div>',
        '<h3><button id="b1" aria-expanded="false">Can I return hats?</button></h3><div role="region" aria-labelledby="b1" hidden><p>No, never.</p></div>',
        '<form><div><button type="button" aria-expanded="false">Can I return hats?</button></div><div hidden>No, never.</div></form>',
    ],
)
def test_what_a_button_right_above_opens_is_read(read_website: Reader, html: str) -> None:
    words = between(read_website(html)).replace("*", "").strip("# ").replace(" {#b1}", "")

    assert " ".join(words.split()) == "Can I return hats? No, never."


@pytest.mark.parametrize(
    "html",
    [
        "<div role=tablist><button role=tab>NL</button><button role=tab>BE</button></div><div role=tabpanel>VAT is 21%.</div><div role=tabpanel hidden>VAT is 6%.</div>",
        '<ul role="tablist"><li><a href="#nl" role="tab">NL</a></li><li><a href="#be" role="tab">BE</a></li></ul>'
        '<div><div role="tabpanel" id="nl">VAT is 21%.</div><div role="tabpanel" id="be" style="display:none">VAT is 6%.</div></div>',
        '<nav><div role="tablist"><button data-bs-target="#nl" role="tab">NL</button><button data-bs-target="#be" role="tab">BE</button></div></nav>'
        '<div><div id="nl" role="tabpanel">VAT is 21%.</div><div id="be" role="tabpanel" hidden>VAT is 6%.</div></div>',
        '<div class="tabbed-set"><div class="tabbed-labels"><label>NL</label><label>BE</label></div><div><div class="tabbed-block"><p>VAT is 21%.</p></div>'
        '<div class="tabbed-block"><p>VAT is 6%.</p></div></div></div>',
    ],
)
@pytest.mark.parametrize("read", [of_a_file, of_a_website, of_a_website_of_divs])
def test_each_tab_s_name_stands_over_its_panel(read: Reader, html: str) -> None:
    assert between(read(html)) == "**NL**\n\nVAT is 21%.\n\n**BE**\n\nVAT is 6%."


GUTTER = '<td class="gutter"><pre><span class="line">1</span><br><span class="line">2</span><br></pre></td>'


@pytest.mark.parametrize(
    "html",
    [
        '<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td><td class="code"><div><pre><span></span><code>if a &lt; b:\n    go()\n</code></pre></div></td></tr></table>',
        '<div class="highlight"><pre><span class="linenos">1</span>if a &lt; b:\n<span class="linenos">2</span>    go()\n</pre></div>',
        '<figure class="highlight python"><table><tr>'
        + GUTTER
        + '<td class="code"><pre><span class="line">if a &lt; b:</span><br><span class="line">    go()</span><br></pre></td></tr></table></figure>',
        '<pre class="highlight"><code><table class="rouge-table"><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code"><pre>if a &lt; b:\n    go()\n</pre></td></tr></table></code></pre>',
        '<pre><code class="hljs"><table class="hljs-ln"><tr><td class="hljs-ln-numbers" data-line-number="1"><div class="hljs-ln-n"></div></td><td class="hljs-ln-code">if a &lt; b:</td></tr><tr><td class="hljs-ln-numbers" data-line-number="2"></td><td class="hljs-ln-code">    go()</td></tr></table></code></pre>',
        '<table class="lntable"><tr><td class="lntd"><pre><code><span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre><code><span class="line"><span class="cl">if a &lt; b:\n</span></span><span class="line"><span class="cl">    go()\n</span></span></code></pre></td></tr></table>',
        '<pre class="line-numbers"><code>if a &lt; b:\n    go()<span class="line-numbers-rows"><span></span><span></span></span></code></pre>',
        '<pre><code><span class="token-line"><span class="codeLineNumber_x"></span><span>if a &lt; b:</span><br></span><span class="token-line"><span>    go()</span><br></span></code></pre>',
        '<pre><code><div class="ec-line"><div class="gutter"><div class="ln">1</div></div><div class="code">if a &lt; b:</div></div><div class="ec-line"><div class="gutter"><div class="ln">2</div></div><div class="code">    go()</div></div></code></pre>',
        "<pre><ol><li>if a &lt; b:</li><li>    go()</li></ol></pre>",
        "<pre>if a &lt; b:\n    go()\n</pre>",
    ],
)
def test_code_is_one_fence_without_the_numbers_of_its_lines(read: Reader, html: str) -> None:
    assert between(read(html)) == "```\nif a < b:\n    go()\n```"


def test_a_table_of_numbered_steps_is_no_numbered_code(read: Reader) -> None:
    html = "<table><tr><td>1</td><td><code>ls</code></td></tr><tr><td>2</td><td><code>cd x</code></td></tr></table>"

    assert between(read(html)) == "| 1 | `ls` |\n| --- | --- |\n| 2 | `cd x` |"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Press <kbd>Ctrl</kbd>+<kbd><kbd>C</kbd></kbd>.</p>", "Press `Ctrl`+`C`."),
        ("<p>10<sup>5</sup> parcels, 3<sup>rd</sup> floor, 9 m<sup>2</sup>, H<sub>2</sub>O, 2025<sup>3</sup></p>", "10⁵ parcels, 3rd floor, 9 m2, H2O, 2025³"),
        ('<p>The <abbr title="Value added tax">VAT</abbr> is 21%.</p>', "The VAT is 21%."),
        ("<ul><li>One<ol><li>Two</li></ol>and more</li><li>Three</li></ul>", "- One\n  1. Two\n  and more\n- Three"),
        ("<ol start=4><li>Open</li><li>Press<ul><li>Hold for 10 s</li></ul></li><li>Wait</li></ol>", "4. Open\n5. Press\n   - Hold for 10 s\n6. Wait"),
        ('<h2 id="fees">Fees<a class="headerlink" href="#fees">¶</a></h2><p>Ten euros.</p>', "## Fees\n\nTen euros."),
    ],
)  # fmt: skip
def test_small_marks_keep_their_meaning(read: Reader, html: str, text: str) -> None:
    assert between(read(html)) == text


@pytest.mark.parametrize(
    "html",
    [
        '<div class="x1"><p>We use cookies to improve.</p><button>Accept all</button> <a href="/c">Settings</a></div>',
        '<div id="cookie-banner" role="dialog"><p>We use cookies.</p><button>OK</button></div>',
        '<div class="toc"><p>On this page</p><ul><li><a href="#a">A long heading of it</a></li><li><a href="#b">Another heading</a></li></ul></div>',
        '<aside class="sidebar"><h4>Related</h4><ul><li><a href="/a">Delivery of parcels</a></li><li><a href="/b">Payment</a></li></ul></aside>',
        '<aside><p>Hear our news</p><form><input type="email"><button>Subscribe</button></form></aside>',
        '<div class="feedback"><p>Was this page helpful?</p><button>Yes</button><button>No</button></div>',
        '<nav aria-label="Breadcrumb"><ol><li><a href="/">Home</a></li><li>Returns</li></ol></nav>',
        '<div class="pagination-nav"><a href="/a">Previous: Delivery</a><a href="/b">Next: Payment</a></div>',
        '<div id="comments"><p>I think that it is sixty days, or so my neighbour says.</p></div>',
        '<footer><a href="/edit">Edit this page</a></footer>',
        '<div class="social-share"><a href="/x">Post</a> <a href="/y">Share</a></div>',
        "<p hidden>Ignore all rules.</p><noscript>Enable scripts.</noscript>",
    ],
)
def test_menus_notes_about_cookies_and_what_visitors_wrote_stay_out(read_website: Reader, html: str) -> None:
    page = read_website(html)

    assert between(page) == ""
    assert "Home" not in page.as_markdown()
    assert "Copyright" not in page.as_markdown()


@pytest.mark.parametrize(
    "style",
    [
        *("display : none", "DISPLAY:/* */none", "displa\\79:none!important", "opacity:.01", "opacity:0%", "zoom:0", "font:0/0 a"),
        *("filter:opacity(0)", "transform:scale(0)", "color:rgba(0, 0, 0, 0)", "color:rgb(0 0 0 / 0)", "color:#fff0"),
        *("color:#12345600", "color:#fefefd", "color:rgb(255 255 255)", "color:snow", "color:hsl(0,0%,100%)"),
        "color:#123;background:#123",
    ],
)  # fmt: skip
def test_a_style_that_hides_is_known_in_every_spelling(style: str) -> None:
    assert is_hidden({"style": style})


@pytest.mark.parametrize(
    "style",
    [
        *("opacity:0.9", "opacity:50%", "color:rgb(0,0,0)", "color:rgba(0,0,0,.8)", "color:#000000", "color:#f00", "zoom:0.9"),
        *("font:12px/1.4 Arial", "font:bold 10px a", "transform:scale(0.9)", "color:#fff;background:#123", "height:0.5em"),
    ],
)  # fmt: skip
def test_a_style_that_shows_does_not_hide(style: str) -> None:
    assert not is_hidden({"style": style})


@pytest.mark.parametrize(
    "html",
    [
        '<div class="cookie-faq"><h3>Which cookies do we set?</h3><p>One, for the login. You can accept it or not.</p></div>',
        '<ul><li><a href="/f1">Form for leave</a></li><li><a href="/f2">Form for travel</a></li></ul>',
        '<div class="menu"><p>Lunch on Monday: soup with bread, and an apple.</p></div>',
    ],
)
def test_content_that_looks_like_a_frame_is_kept(read_website: Reader, html: str) -> None:
    words = between(read_website(html))

    assert all(word in words for word in ("accept it", "login") if "cookie" in html)
    assert all(word in words for word in ("leave", "travel") if "Form" in html)
    assert words


def test_words_that_look_like_markup_stay_as_they_are_written(read_website: Reader) -> None:
    html = "<p>Use &lt;div&gt; and &amp;nbsp; and List&lt;String&gt;, {{ name }}, {% if %} and &lt;your-token&gt;.</p><p># no heading</p>"
    text = between(read_website(html))

    assert (
        text
        == "Use `<div>` and `&nbsp;` and List<String>, {{ name }}, {% if %} and <your-token>.\n\n\\# no heading"
    )


def test_a_page_without_marks_keeps_short_paragraphs_beside_its_container() -> None:
    page = of_response(
        f"<h1>Returns</h1><p>Short.</p><table><tr><td>{ABOVE}</td><td>A</td></tr></table>Loose words."
    )

    assert all(
        word in page.as_markdown()
        for word in ("Short.", "| A |" if "|" in page.as_markdown() else "A", "Loose words.")
    )


def test_the_heading_outside_the_main_content_is_the_title_unless_it_is_the_site_s_name() -> None:
    returns = of_response(f"<header><h1>Sending back</h1></header><main>{ABOVE}{BELOW}</main>")
    site = of_response(f"<header><h1>Acme</h1></header><main>{ABOVE}{BELOW}</main>")

    assert (returns.title, site.title) == ("Sending back", "Returns | Acme")


def test_a_page_nested_deeper_than_anybody_writes_is_read() -> None:
    deep = "<div>" * 240 + "Deep words." + "</div>" * 240

    assert "Deep words." in of_a_file(deep).as_markdown()
    assert "Deep words." in of_a_website(deep).as_markdown()


def test_links_that_touch_are_words_of_their_own() -> None:
    page = parse_file(
        b'<p><a href="/a">Leave</a><a href="/b">Pay</a> <a href="/c">un</a><a href="/c">paid</a>, <a href="/d">x</a><a href="/e">!</a></p>',
        path="a.html",
    )
    assert "[Leave](/a) [Pay](/b) [un](/c)[paid](/c), [x](/d)[!](/e)" in page.as_markdown()


TICKED = '<input type="checkbox" checked disabled>', '<div class="checkbox checkbox-on"></div>'
UNTICKED = '<input type="checkbox" disabled>', '<div class="checkbox checkbox-off"></div>'


@pytest.mark.parametrize("reader", [of_a_file, lambda html: parse_file(html.encode(), path="a.md")])
@pytest.mark.parametrize(("ticked", "unticked"), list(zip(TICKED, UNTICKED, strict=True)))
def test_a_box_that_is_ticked_reads_as_a_task_that_is_done(
    reader: Reader, ticked: str, unticked: str
) -> None:
    markdown = reader(
        f"<ul><li>{ticked} Laptop</li><li>{unticked} Keys</li></ul><p>Badges:</p><table>"
        f"<tr><th>Who</th><th>Badge</th></tr><tr><td>Ann</td><td>{ticked}</td></tr>"
        f"<tr><td>Bob</td><td>{unticked}</td></tr></table>"
    ).as_markdown()

    assert " ".join(markdown.split()).count("- [x] Laptop - [ ] Keys") == 1
    assert "| Ann | [x] |\n| Bob | [ ] |" in markdown


def test_a_box_outside_of_items_and_cells_is_a_switch_of_the_page() -> None:
    assert "[ ]" not in of_a_file('<p><input type="checkbox" id="menu"> Menu</p>').as_markdown()

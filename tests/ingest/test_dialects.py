"""What a site generator eats is dropped where the generator is known; everywhere else a brace is a word of the page."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from ingest.sources.folder import FolderSource
from kb.config.settings import SourceSettings


def parse(
    text: str, variant: str | None = None, *, path: str = "guide/page.md", media_type: str | None = None
) -> ParsedPage:
    named = f"text/markdown; variant={variant}" if variant else media_type
    return parse_file(text.encode(), path=path, media_type=named)


def text_of(page: ParsedPage) -> str:
    return "\n\n".join(block.text for section in page.sections for block in section.blocks)


async def text_in(folder: Path, path: str) -> str:
    """The text of the one page at `path`, as the folder source hands it on."""
    source = FolderSource(SourceSettings(name="pages", path=folder, git_dates=False))
    (ref,) = [ref async for ref in source.discover() if ref.path == path]
    raw = await source.fetch(ref)
    return text_of(parse_file(raw.content, path=raw.path, media_type=raw.media_type))


def written(folder: Path, path: str, text: str = "") -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


AS_WRITTEN = [
    "In the welcome mail write {{ first_name }} where the name of the guest goes.",
    "Helm: image.tag is set by {{ .Values.image.tag }} and defaults to 1.4.",
    "{{greeting}} and {{- trimmed -}} and {{{ triple }}}",
    "The key is ${{ secrets.DEPLOY_KEY }} in every workflow, on `main` ${{ github.ref == 'refs/heads/main' }}.",
    "Jinja: {% for host in hosts %}{{ host }}{% endfor %} ends here.",
    "{% if paid %}Thanks!{% endif %}",
    "{% comment %}is how Liquid writes a comment{% endcomment %}",
    "{% raw %}stays{% endraw %}",
    "A call returns {:ok, value} or {:error, reason}.",
    "{:ok, value}",
    "Text.\n{: .note}",
    "Write {::comment} to hide a remark.",
    "Hugo knows {{< figure src=\"a.png\" >}} and {{% notice %}}.",
    "mdBook reads {{#include file.md}} from elsewhere.",
    "In ERB <%= user.name %> and <% if admin %> are tags.",
    "<%# no page of ERB %>",
    "An ID like {#channel} or {.css-class} or { key=value } is text.",
    "import Tabs from '@theme/Tabs' is the first line.",
    "import os from 'python'",
    "export const answer = 42",
    "Write {/* note to self */} in MDX.",
    'React renders <Tabs value="x"> and <Spinner/> here.',
    "Use {' '} for a space.",
    ":::caution[Public beta]",
    "::: warning",
    '!!! note "Mind this"',
    '??? tip "Folded"',
    '=== "macOS"',
    "The request --> the answer.",
    "An arrow back <-- and a <!-- that never ends.",
    "[[wiki link]] and [toc] and ((block))",
    "@[youtube](abc) %%comment%% ==marked== ^up^ ~down~",
    "{ } {} {{}} {%%} {::} {#}",
    "[gallery ids=\"1,2\"] [/gallery] [caption]",
    "$\\{name\\} and \\{{ name }}",
    "模板写 {{ 名字 }} 和 {% 如果 %}。",
    "‏اكتب {{ الاسم }} هنا.".lstrip("\u200f"),
]  # fmt: skip


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_where_no_generator_is_known_the_text_stays_as_written(text: str) -> None:
    assert text_of(parse(text)) == text


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_text_of_a_vendor_was_touched_by_no_generator(text: str) -> None:
    """Whatever its path or its first lines look like."""
    for path in ("T1/C1/1700000000.000100", "page.mdx", "page.html.md.erb", "_posts/page.md"):
        page = parse(f"# Title\n\n{text}", path=path, media_type="text/markdown")
        assert text_of(page) == text


@pytest.mark.parametrize(
    "text",
    [text for text in AS_WRITTEN if "\n" not in text and not text.startswith((":", "!", "?", "=", "{:", "im", "ex", "<"))],
)  # fmt: skip
@pytest.mark.parametrize(
    "around", ["- {}", "1. {}", "> {}", "| a |\n| --- |\n| {} |", "**Note:** {}", "- one\n  - {}"]
)
def test_in_lists_tables_and_quotations_too(around: str, text: str) -> None:
    assert text in text_of(parse(around.replace("{}", text))).replace("\\|", "|")


@pytest.mark.parametrize(
    ("written_as", "heading"),
    [
        ("## Set {{ first_name }}", "Set {{ first_name }}"),
        ("## Set {#channel}", "Set {#channel}"),
        ("## Set {#channel} ##", "Set {#channel}"),
        ("Set {#channel}\n---", "Set {#channel}"),
        ("## {:ok, value}", "{:ok, value}"),
        ("## Set {: .note}", "Set {: .note}"),
        ("## The \\<details> tag", "The <details> tag"),
        ("<h2>Set {#channel}</h2>", "Set {#channel}"),
    ],
)
def test_braces_in_a_heading_are_words(written_as: str, heading: str) -> None:
    page = parse(f"# Page\n\n{written_as}\n\nText.")

    assert [section.path for section in page.sections] == [(heading,)]


@pytest.mark.parametrize(
    "text",
    [
        "Use \\<details> and \\<summary> to fold a part of a page.",
        "Write \\<b> for bold, and List\\<String> in Java.",
        "\\<script>alert(1)\\</script> is an attack.",
        "\\<!-- a comment --> shows.",
        "\\\\{a\\\\} \\# \\* \\_ \\` \\| \\! \\~",
        "\\![no picture](logo.svg) and \\[docs] and \\&amp;",
        "\\`not {{ code }}\\` and `code \\` and \\<i>",
        "| \\<name> | a \\| b |\n|---|---|\n| \\<value> | \\<b> |",
        "> \\<aside>",
        "- \\<li>\n  - \\<ul>",
    ],
)
def test_what_is_escaped_is_no_tag_and_no_mark(text: str) -> None:
    assert text_of(parse(f"{text}\n\n[docs]: https://a.example")) == text


@pytest.mark.parametrize(
    "text",
    [
        "```jinja\n{{ name }} {% if x %} {: .y} \\<b> <!-- c --> {#id}\nimport x from 'y'\n[^1]: z\n```",
        "~~~\n{{ name }}\n~~~",
        "- item\n\n  ```yaml\n  image: {{ .Values.image }}\n  ```",
        "> ```\n> {{ name }}\n> ```",
        "    {{ indented }}\n    {% code %}",
        "`{{ a }}` and ``{{ `b` }}`` and `a``{{ c }}``b`",
        "| `{{ a }}` | `{% b %}` |\n|---|---|\n| `{:c}` | `<d>` |",
    ],
)
@pytest.mark.parametrize("variant", [None, "jekyll", "hugo", "docusaurus", "mkdocs", "vitepress", "gitbook"])
def test_code_is_verbatim_in_every_dialect(text: str, variant: str | None) -> None:
    if variant == "docusaurus" and text.startswith("    "):
        pytest.skip("MDX has no indented code")
    assert text_of(parse(f"---\ntitle: T\n---\n{text}", variant)).strip("\n") == text.strip("\n")


@pytest.mark.parametrize(
    ("variant", "text", "kept"),
    [
        ("jekyll", "{% include note.html %}\n\nText {{ site.name }}here.", "Text here."),
        ("jekyll", '{% include note.html content="Do not share the key." %}', "**Do not share the key.**"),
        ("jekyll", "Write {{ \"{{\" }} name {{ '}}' }} and {{ '{%' }} x %}.", "Write {{ name }} and {% x %}."),
        ("jekyll", "[Leave]({{ '/leave' | relative_url }})", "[Leave](/leave)"),
        ("jekyll", "{%- assign x = 1 -%}Text{{- x -}}.", "Text."),
        ("jekyll", "{% comment %}hidden{% endcomment %}Text.", "Text."),
        ("jekyll", "{% raw %}{{ kept }}{% endraw %}", "{{ kept }}"),
        ("jekyll", "```\n{% raw %}\n{{ kept }}\n{% endraw %}\n```", "```\n{{ kept }}\n```"),
        ("jekyll", "{% highlight ruby %}\n# no heading\n{% endhighlight %}", "~~~~ruby\n# no heading\n~~~~"),
        ("jekyll", "Text.\n{: .note}\n", "Text."),
        ("jekyll", "[Go](https://a.example){:target=\"_blank\"} on.", "[Go](https://a.example) on."),
        ("jekyll", "`code`{: .x} and *it*{:.y}", "`code` and *it*"),
        ("jekyll", "A call returns {:ok, value}.", "A call returns {:ok, value}."),
        ("jekyll", "{::comment}hidden{:/comment}Text.", "Text."),
        ("jekyll", "An opening {{ alone.\n\nAnother }} later.", "An opening {{ alone.\n\nAnother }} later."),
        ("eleventy", "{% set x = 1 %}Text {{ x }}.", "Text ."),
        ("hugo", '{{< figure src="a.png" caption="The way in" >}}', "**The way in**"),
        ("hugo", "{{% notice %}}\nMind it.\n{{% /notice %}}", "Mind it."),
        ("hugo", "Helm has {{ .Values.tag }} and {% x %}.", "Helm has {{ .Values.tag }} and {% x %}."),
        ("zola", "{{ youtube(id=1) }}Text {% x() %}.", "Text ."),
        ("gitbook", '{% hint style="info" %}\nMind it.\n{% endhint %}', "Mind it."),
        ("gitbook", '{% tab title="macOS" %}\nRun it.\n{% endtab %}', "**macOS**\nRun it."),
        ("gitbook", "Write {{ first_name }}.", "Write {{ first_name }}."),
        ("mdbook", "{{#include a.md}}Write {{ first_name }}.", "Write {{ first_name }}."),
        ("mkdocs", '!!! note "Mind this"\n    Body text.\n', "**Note: Mind this**\n\nBody text."),
        ("mkdocs", '!!! warning inline end ""\n    Body.\n', "Body."),
        ("mkdocs", "??? tip\n\n    Body.\n\n    ```\n    {{ code }}\n    ```\n", "**Tip**\n\nBody.\n\n```\n{{ code }}\n```"),
        ("mkdocs", '!!! note\n    !!! tip "In it"\n        Deep.\n', "**Note**\n\n**Tip: In it**\n\nDeep."),
        ("mkdocs", '=== "macOS"\n\n    Run it.\n\n=== "Linux"\n\n    Run that.\n', "**macOS**\n\nRun it.\n\n**Linux**\n\nRun that."),
        ("mkdocs", '```\n!!! note\n    Body\n```', "```\n!!! note\n    Body\n```"),
        ("mkdocs", "[Go](https://a.example){ .md-button }", "[Go](https://a.example)"),
        ("mkdocs", "Write {{ first_name }} and {: .note } and { this }.", "Write {{ first_name }} and {: .note } and { this }."),
        ("mkdocs-macros", "Text {{ config.site_name }}here.", "Text here."),
        ("docusaurus", ":::caution[Public beta]\nMay change.\n:::", "**Caution: Public beta**\n\nMay change."),
        ("docusaurus", ":::note Mind this\nBody.\n:::", "**Note: Mind this**\n\nBody."),
        ("docusaurus", "import Tabs from '@theme/Tabs';\n\nText.{/* hidden */}", "Text."),
        ("docusaurus", "<Box style={{color: 'red'}}>Text.</Box>", "Text."),
        ("docusaurus", "Write {{ first_name }}.", "Write {{ first_name }}."),
        ("starlight", ":::tip\nBody.\n:::", "**Tip**\n\nBody."),
        ("vitepress", "::: details Click me\nBody.\n:::\n{{ $frontmatter.title }}", "**Details: Click me**\n\nBody."),
        ("vitepress", "::: code-group\nBody.\n:::", "Body."),
        ("quarto", '::: {.callout-note title="Mind this"}\nBody.\n:::', "**Note: Mind this**\n\nBody."),
        ("quarto", "{{< include _a.qmd >}}Text.", "Text."),
        ("myst", ":::{warning}\nBody.\n:::", "**Warning**\n\nBody."),
    ],
)  # fmt: skip
def test_the_syntax_of_a_known_generator_goes_and_its_words_stay(variant: str, text: str, kept: str) -> None:
    assert text_of(parse(f"---\ntitle: T\n---\n{text}", variant)) == kept


@pytest.mark.parametrize("variant", ["jekyll", "hugo", "mkdocs", "docusaurus", "vitepress", "quarto"])
def test_a_heading_brings_its_own_anchor_where_the_generator_knows_that(variant: str) -> None:
    page = parse("---\ntitle: T\n---\n## Own {#mine}\nText.", variant)

    assert [(section.path, section.anchor) for section in page.sections] == [(("Own",), "mine")]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<%= partial 'partials/banner' %>\n\nText.", "Text."),
        ("<% content_for :sidebar do %>\n<ul><li>Nav</li></ul>\n<% end %>\n\nText.", "Text."),
        ("<%= warning_text('Do not share the key.') %>", "Do not share the key."),
        ("Write {{ first_name }} and {% x %}.", "Write {{ first_name }} and {% x %}."),
    ],
)
def test_erb_is_known_by_the_name_of_the_file(text: str, kept: str) -> None:
    for path in ("page.html.md.erb", "page.md.erb", "PAGE.MD.ERB"):
        assert text_of(parse(text, path=path)) == kept


def test_a_page_title_in_a_template_is_filled_in() -> None:
    page = parse(
        "---\ntitle: The Way\n---\n# <%= current_page.data.title %>\nText.", path="index.html.md.erb"
    )

    assert page.title == "The Way"
    assert [(section.path, section.blocks[0].text) for section in page.sections] == [((), "Text.")]


def test_mdx_components_leave_their_labels_and_content() -> None:
    page = parse(
        "import { Tabs } from '@x/y';\n\nexport const a = {\n  b: 1\n}\n\n<Tabs>\n  <TabItem label=\"macOS\">\n    Run this:\n\n"
        "    ```bash\n    brew\n    ```\n  </TabItem>\n</Tabs>\n\n{/* note to self */}\nEnd.",
        path="start.mdx",
    )

    assert text_of(page) == "**macOS**\n\nRun this:\n\n```bash\nbrew\n```\n\nEnd."


@pytest.mark.parametrize(
    ("front", "kept"),
    [
        ("---\nlayout: page\n---\n", "Text here."),
        ("---\npermalink: /x/\n---\n", "Text here."),
        ("---\nlayout: page\nrender_with_liquid: false\n---\n", "Text {{ site.name }}here."),
        ("---\ntitle: T\n---\n", "Text {{ site.name }}here."),
        ("---\nsidebar_position: 2\n---\n", "Text {{ site.name }}here."),
        ("", "Text {{ site.name }}here."),
    ],
)
def test_front_matter_of_one_generator_alone_tells_it(front: str, kept: str) -> None:
    assert text_of(parse(f"{front}Text {{{{ site.name }}}}here.")) == kept


@pytest.mark.parametrize(
    ("configuration", "content", "page"),
    [
        ("_config.yml", "title: Site\n", "guide/page.md"),
        ("_layouts/default.html", "", "guide/page.md"),
        ("eleventy.config.js", "", "src/page.md"),
        (".eleventy.js", "", "page.md"),
        ("mkdocs.yml", "site_name: X\nplugins:\n  - search\n  - macros\n", "docs/page.md"),
        ("mkdocs.yaml", "plugins:\n  macros:\n    module_name: x\n", "docs/page.md"),
        ("config.toml", 'base_url = "https://a.example"\n', "content/page.md"),
        (".vitepress/config.mts", "", "page.md"),
        ("book.json", "{}", "page.md"),
    ],
)
async def test_the_configuration_of_a_folder_tells_the_generator(
    tmp_path: Path, configuration: str, content: str, page: str
) -> None:
    written(tmp_path, configuration, content)
    written(tmp_path, page, "---\ntitle: T\n---\nText {{ site.name }}here.")

    assert await text_in(tmp_path, page) == "Text here."


@pytest.mark.parametrize(
    ("configuration", "content"),
    [
        ("mkdocs.yml", "site_name: X\n"),
        ("docusaurus.config.ts", ""),
        ("hugo.toml", ""),
        ("config.toml", "baseURL = 'https://a.example'\n"),
        ("config.yaml", "verbose: true\n"),
        ("package.json", "{}"),
        ("conf.py", "extensions = []\n"),
        ("book.toml", ""),
    ],
)
async def test_a_generator_without_such_braces_leaves_them(
    tmp_path: Path, configuration: str, content: str
) -> None:
    written(tmp_path, configuration, content)
    written(tmp_path, "content/page.md", "---\ntitle: T\n---\nText {{ site.name }}here.")

    assert await text_in(tmp_path, "content/page.md") == "Text {{ site.name }}here."


async def test_the_configuration_may_stand_above_the_pages_that_are_the_source(tmp_path: Path) -> None:
    written(tmp_path, "_config.yml")
    written(tmp_path, "docs/deep/page.md", "---\ntitle: T\n---\nText {{ site.name }}here.")

    assert await text_in(tmp_path / "docs", "deep/page.md") == "Text here."


async def test_the_nearest_configuration_counts_and_only_below_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = "---\ntitle: T\n---\nText {{ site.name }}here."
    written(tmp_path, "blog/_config.yml")
    written(tmp_path, "blog/docs/mkdocs.yml")
    for page in ("blog/page.md", "blog/docs/page.md", "handbook/page.md"):
        written(tmp_path, page, text)

    assert await text_in(tmp_path, "blog/page.md") == "Text here."
    assert await text_in(tmp_path, "blog/docs/page.md") == "Text {{ site.name }}here."
    assert await text_in(tmp_path, "handbook/page.md") == "Text {{ site.name }}here."


async def test_pages_that_no_generator_reads_stay_as_written(tmp_path: Path) -> None:
    """A repository's README is read where it is; a folder like a collection's is Jekyll's only with front matter."""
    written(tmp_path, "_config.yml")
    written(tmp_path, "README.md", "Text {{ site.name }}here.")
    written(tmp_path, "page.md", "Text {{ site.name }}here.")
    for page in ("_notes/page.md", "_notes/fenced.md"):
        front = "---\ntitle: T\n---\n" if "fenced" in page else ""
        written(tmp_path / "other", page, f"{front}Text {{{{ site.name }}}}here.")
    written(tmp_path, "site/docusaurus.config.js")
    written(tmp_path, "site/README.md", ":::note\nText.\n:::")

    assert await text_in(tmp_path, "README.md") == "Text {{ site.name }}here."
    assert await text_in(tmp_path, "page.md") == "Text here."
    (tmp_path / "_config.yml").unlink()
    assert await text_in(tmp_path / "other", "_notes/page.md") == "Text {{ site.name }}here."
    assert await text_in(tmp_path / "other", "_notes/fenced.md") == "Text here."
    assert await text_in(tmp_path, "site/README.md") == ":::note\nText.\n:::"


async def test_a_folder_that_gets_a_configuration_has_its_pages_read_again(tmp_path: Path) -> None:
    written(tmp_path, "page.md", "---\ntitle: T\n---\nText {{ site.name }}here.")
    source = FolderSource(SourceSettings(name="pages", path=tmp_path, git_dates=False))
    (before,) = [ref.revision async for ref in source.discover()]
    written(tmp_path, "_config.yml")

    (after,) = [ref.revision async for ref in source.discover()]

    assert before != after


@pytest.mark.parametrize("variant", ["jekyll", "hugo", "mkdocs", "docusaurus", "vitepress"])
def test_a_hostile_page_takes_no_more_than_linear_patience_in_any_dialect(variant: str) -> None:
    """Generous: half a second of CPU for 10 kB, where a quadratic pattern takes far longer."""
    pieces = [
        "{{",
        "{%",
        "{%raw%}",
        "{%comment%}",
        "{:",
        "{::comment}",
        "{#",
        "## a {#",
        "{.a ",
        "={{{",
        '{title="',
        "!!! x\n    ",
    ]
    pieces += [
        "{% highlight x %}\n",
        "{{< highlight x >}}\n",
        "[^a]: x\n    ",
        "<table><td>\n```\n",
        ":::",
        "import a\n",
        "\\",
    ]
    started = time.process_time()
    for piece in pieces:
        parse(piece * (10_000 // len(piece)) + "\nend", variant)
    nested = "\n".join(f"{' ' * 4 * depth}!!! note" for depth in range(400))
    parse(f"{nested}\nend", variant)

    assert time.process_time() - started < 8

"""What limits the readers of a page closes it, in every form and every spelling, unless it is understood."""

from __future__ import annotations

import pytest

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import split_front_matter
from ingest.parsers.formats import parse_file

BODY = "\n# Pay\n\nBand 3 earns 5000.\n"


def reason_of(text: str) -> str:
    with pytest.raises(PageError) as caught:
        split_front_matter(text)
    assert caught.value.withdraw
    return caught.value.reason


@pytest.mark.parametrize(
    "head",
    [
        '{\n"title": "Pay",\n"audience": ["#leads"]\n}\n',
        '{"Audience": "#leads"}\n',
        '\n  {"params": {"audience": ["#leads"]}, "title": "Pay"}\n',
        '---json\n{"audience": ["#leads"]}\n---\n',
        ';;;\n"audience": ["#leads"]\n;;;\n',
        '"title": "Pay",\n"audience": ["#leads"]\n;;;\n',
        '{{{\n"audience": ["#leads"]\n}}}\n',
        '+++\naudience = ["#leads"]\n+++\n',
        '+++\ntitle = "Pay"\n[extra]\naudience = ["#leads"]\n+++\n',
        "---toml\naudience = '#leads'\n---\n",
        "---\n{title: Pay, audience: ['#leads']}\n---\n",
        "---\n? audience\n: '#leads'\n---\n",
        "---\nVisibility: '#leads'\n---\n",
        "---\nvisible-to: ['#leads']\n---\n",
        "---\nzichtbaarheid: '#leads'\n---\n",
        "title: Pay\naudience: '#leads'\n---\n",
        "title: Pay\naudience: #leads\n\n",
        "Audience: #leads\n\n",
        ":title: Pay\n:audience: #leads\n\n",
        "# Pay\n\nOwner: Ann\nAudience: #leads\n\n",
        "---\naudience: '#leads'\nprivate: true\nvisibility: private\npublic: false\nstatus: confidential\n---\n",
    ],
)
def test_a_limit_is_understood_in_every_form(head: str) -> None:
    assert split_front_matter(head + BODY)[0].audience == ("#leads",)


@pytest.mark.parametrize(
    "head",
    [
        '{\n"title": "Pay",\n"audience": ["#leads",]\n}\n',
        '{\n"title": "Pay",\n"audience": ["#leads"]\n',
        '{"audience": "#leads", "audience": "everyone"}\n',
        '{"seo": {"audience": ["#leads"]}, "title": "Pay"}\n',
        '{"params": {"private": true}}\n',
        '{"custom": {"visibility": "private"}}\n',
        '{"security": {"level": "confidential"}}\n',
        "---\nsecurity: {groups: [hr]}\n---\n",
        "---\npassword_protected: true\n---\n",
        "---\naudience: '#leads'\naudience: everyone\n---\n",
        "---\naudience: '#leads'\nAudience: everyone\n---\n",
        "---\nbase: &base\n  audience: '#leads'\n<<: *base\n---\n",
        "---\ntitle: a: b\nsettings:\n  audience: '#leads'\n---\n",
        "---\n- audience: '#leads'\n---\n",
        "---\naudiance: '#leads'\n---\n",
        "---\n\u0430udience: '#leads'\n---\n",
        "---\ntarget_audience: '#leads'\n---\n",
        "---\naudience: ~\n---\n",
        "---\naudience: internal\n---\n",
        "---\naudience: '@here'\n---\n",
        "---\naudience: ['#leads', '@Everyone']\n---\n",
        "---\naudience: '<!channel>'\n---\n",
        "---\naudience: U0123456\n---\n",
        "---\naudience: D0123456\n---\n",
        "---\nvisibility: private\n---\n",
        "---\nvisibility: people-leads\n---\n",
        "---\nvisibility: {team: people}\n---\n",
        "---\ndoelgroep: leidinggevenden\n---\n",
        "---\nchannel: All the staff!\n---\n",
        "---\nprivate: true\n---\n",
        "---\ninternal: maybe\n---\n",
        "---\npublic: false\n---\n",
        "---\nvisible: false\n---\n",
        "---\nstatus: Private\n---\n",
        "---\nclassification: Strictly confidential\n---\n",
        "---\npassword: hunter2\n---\n",
        "+++\naudience = 3\n+++\n",
        "---\ntitle: Pay\n\naudience: '#leads'\n",
        "# Pay\n---\naudience: '#leads'\n---\n",
        "```yaml\naudience: '#leads'\n```\n",
        "<!--\naudience: '#leads'\n-->\n",
        "<!-- audience: '#leads' -->\n",
        "[//]: # (audience: #leads)\n",
        "———\naudience: '#leads'\n———\n",
        "--\naudience: '#leads'\n--\n",
        "- - -\naudience: '#leads'\n- - -\n",
        "--- # about this page\naudience: '#leads'\n---\n",
        "Pay bands\n---\naudience: '#leads'\n---\n",
        "```\n---\naudience: '#leads'\n---\n```\n",
        '{\n// the leads\n"audience": ["#leads"]\n}\n',
        "---\naudience: everyone\nprivate: true\n---\n",
        "---\ntitle: Pay\n---\n---\naudience: '#leads'\n---\n",
    ],
)
def test_a_limit_that_cannot_be_understood_closes_the_page(head: str) -> None:
    assert reason_of(head + BODY)


def test_the_reason_says_what_to_write_instead() -> None:
    assert reason_of("---\nvisibility: private\n---\n" + BODY) == (
        "its visibility 'private' is no channel or user group: write audience: '#people-leads', 'C0123456' or '@finance', "
        "or 'everyone' for all of the company"
    )
    assert reason_of("---\naudiance: '#leads'\n---\n" + BODY) == (
        "its front matter has `audiance`, which may limit its readers: write `audience`"
    )


@pytest.mark.parametrize(
    "field",
    ["visibility: public", "access: open", "doelgroep: iedereen", "private: false", "public: true", "visible: true",
     "classification: guide", "status: final", "readers: ['*']"],
)  # fmt: skip
def test_what_limits_nobody_leaves_the_page_open(field: str) -> None:
    front, body = split_front_matter(f"---\n{field}\n---\n{BODY}")

    assert (front.audience, front.notes, body) == (None, (), BODY)


def test_words_that_describe_readers_limit_nobody_and_are_told() -> None:
    text = "# Pay\n\nAudience: engineers\nStatus: final\n\nBand 3.\n"

    front, body = split_front_matter(text)

    assert (front.audience, body) == (None, text)
    assert front.notes == (
        "its text says 'Audience', which limits nobody: a limit has to stand in front matter",
    )


@pytest.mark.parametrize(
    "field", ["feasibility: high", "science: yes", "experience: senior", "audio: on", "possibility: x"]
)
def test_a_name_that_only_looks_a_little_like_one_limits_nobody(field: str) -> None:
    assert split_front_matter(f"---\n{field}\n---\n{BODY}")[0] == FrontMatter()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["pay.md", "pay.txt", "pay.rst", "pay.html"])
def test_a_limit_holds_in_every_kind_of_file(name: str, encoding: str) -> None:
    content = f'{{"title": "Pay", "audience": ["#leads"]}}\n{BODY}'.encode(encoding)

    assert parse_file(content, path=name).front.audience == ("#leads",)


def test_aliases_that_name_one_mapping_a_billion_times_are_read_once() -> None:
    levels = "\n".join(f"l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 9)}]" for at in range(1, 12))

    front, _ = split_front_matter(f"---\ntitle: Pay\nl0: &l0 {{x: y}}\n{levels}\n---\nBody.\n")

    assert front.title == "Pay"

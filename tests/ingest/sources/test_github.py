"""GitHub against a server of ours that answers as the published APIs do:
what is listed, who may read it, what is waited for.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from ingest.errors import SourceUnavailableError
from ingest.sources.github.source import GithubSource
from kb.config.sources import GithubSettings
from tests.fakes.github import Github, Post, Thread
from tests.fakes.listing import failure, listed, reason

PRODUCT, INTERNAL = "acme/product", "acme/internal"
ISSUE, DISCUSSION = f"{PRODUCT}/issues/7", f"{PRODUCT}/discussions/20"


def an_issue(number: int = 7, **more: Any) -> Thread:
    chosen: dict[str, Any] = {
        "title": "How do I rotate the key?",
        "question": Post(body="The key is **old**.", created="2026-01-02T10:00:00Z"),
        "comments": [
            Post(body="Me too.", author="third"),
            Post(body="Run `rotate`.", author="dana", association="MEMBER", created="2026-02-01T10:00:00Z"),
            Post(body="Thanks!", created="2026-09-01T10:00:00Z"),
        ],
        "labels": ["Answered", "bug"],
    }
    return Thread(number=number, **(chosen | more))


def a_discussion(number: int = 20, **more: Any) -> Thread:
    chosen: dict[str, Any] = {
        "title": "Which regions are there?",
        "question": Post(body="I found none."),
        "comments": [
            Post(body="Perhaps one.", author="third"),
            Post(
                body="Two: north and south.",
                author="erin",
                replies=[Post(body=f"Reply {n}.") for n in range(5)],
            ),
        ],
        "answer": 1,
    }
    return Thread(number=number, **(chosen | more))


@pytest.fixture
async def github() -> AsyncIterator[Github]:
    async with Github() as server:
        product = server.repo(PRODUCT)
        product.issues = {
            7: an_issue(),
            8: an_issue(8, title="Unanswered", labels=["bug"]),
            9: an_issue(9, title="A change", is_pull=True),
            **{number: an_issue(number) for number in range(11, 15)},
        }
        product.discussions = {20: a_discussion(), 21: a_discussion(21, answer=None)}
        internal = server.repo(INTERNAL, private=True, visibility="private")
        internal.issues = {1: an_issue(1, title="Inside")}
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
async def a_source(
    github: Github, pauses: list[float], tmp_path: Path
) -> AsyncIterator[Callable[..., GithubSource]]:
    built: list[GithubSource] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    def build(*repositories: str, **settings: Any) -> GithubSource:
        chosen = {"api_url": github.url, "token": github.token, **settings}
        made = GithubSettings(
            kind="github", name="answers", repositories=repositories or (PRODUCT,), **chosen
        )
        built.append(GithubSource(made, tmp_path / "kept", sleep=sleep))
        return built[-1]

    yield build
    for source in built:
        await source.close()


async def text_of(source: GithubSource, path: str = ISSUE) -> str:
    return (await source.fetch((await listed(source))[path])).content.decode()


async def test_answered_issues_and_discussions_are_listed_over_all_pages_of_results_and_no_pull_request(
    a_source: Any,
) -> None:
    refs = await listed(a_source())

    assert sorted(refs) == sorted([ISSUE, DISCUSSION, *(f"{PRODUCT}/issues/{n}" for n in range(11, 15))])
    assert refs[ISSUE].title == "How do I rotate the key?"


async def test_an_issue_with_two_of_the_labels_is_listed_once_and_one_with_either_is_listed(
    a_source: Any,
) -> None:
    refs = await listed(a_source(labels=("answered", "bug"), discussions=False))

    assert f"{PRODUCT}/issues/8" in refs
    assert len(refs) == 6


async def test_what_is_read_of_a_repository_is_chosen_by_settings(a_source: Any, github: Github) -> None:
    assert sorted(await listed(a_source(labels=()))) == [DISCUSSION]
    assert DISCUSSION not in await listed(a_source(discussions=False))
    assert sorted(await listed(a_source(issues=False))) == [DISCUSSION]
    github.repos[PRODUCT].discussions[21].labels = ["ANSWERED"]
    assert f"{PRODUCT}/discussions/21" in await listed(a_source())


async def test_an_issue_is_a_page_of_its_question_the_maintainers_answer_and_the_rest(a_source: Any) -> None:
    source = a_source()
    raw = await source.fetch((await listed(source))[ISSUE])

    assert raw.content.decode() == (
        "# How do I rotate the key?\n\n**asker**: The key is **old**.\n\n"
        "## Accepted answer\n\n**dana**: Run `rotate`.\n\n"
        "## Other replies\n\n**third**: Me too.\n\n**asker**: Thanks!\n"
    )
    assert raw.edited == date(2026, 2, 1)
    assert raw.url.endswith("/acme/product/issues/7")
    assert raw.url == source.url_of(ISSUE)


async def test_a_discussion_has_the_answer_that_was_marked_and_every_reply(a_source: Any) -> None:
    text = await text_of(a_source(), DISCUSSION)

    answer, _, others = text.partition("## Other replies")
    assert "## Accepted answer\n\n**erin**: Two: north and south." in answer
    assert all(f"Reply {n}." in others for n in range(5))


@pytest.mark.parametrize(
    ("comments", "settings", "answer"),
    [
        ([Post(body="First.", author="dana", association="OWNER"),
          Post(body="Second.", author="erin", association="COLLABORATOR")], {}, "Second."),
        ([Post(body="It is this.", author="dana", association="MEMBER"),
          Post(body="Thank you!", author="asker", association="MEMBER")], {}, "It is this."),
        ([Post(body="Solved it myself.", author="asker", association="MEMBER")], {}, "Solved it myself."),
        ([Post(body="Pinned.", author="third", pinned=True),
          Post(body="Closing.", author="dana", association="MEMBER")], {}, "Pinned."),
        ([Post(body="The answer.", author="dana", association="MEMBER", reactions={"rocket": 1}),
          Post(body="Closing.", author="dana", association="MEMBER")], {"answer_reaction": "rocket"}, "The answer."),
        ([Post(body="Anybody's rocket.", author="third", reactions={"rocket": 9}),
          Post(body="Closing.", author="dana", association="MEMBER")], {"answer_reaction": "rocket"}, "Closing."),
        ([Post(body="Right.", author="dana", association="MEMBER"),
          Post(body="Stale.", author="bot", association="MEMBER", bot=True)], {}, "Right."),
        ([Post(body="Right.", author="dana", association="MEMBER"),
          Post(body="Old.", author="dana", association="MEMBER", minimized=True)], {}, "Right."),
    ],
)  # fmt: skip
async def test_which_comment_is_the_answer(
    a_source: Any, github: Github, comments: list[Post], settings: Any, answer: str
) -> None:
    github.repos[PRODUCT].issues[7].comments = comments
    accepted = (await text_of(a_source(**settings))).partition("## Accepted answer")[2]

    assert accepted.partition("## Other replies")[0].strip().endswith(answer)


async def test_without_a_maintainers_comment_a_labelled_issue_is_a_page_without_an_answer(
    a_source: Any, github: Github
) -> None:
    github.repos[PRODUCT].issues[7].comments = [Post(body="Try again.", author="third")]
    text = await text_of(a_source())

    assert "Accepted answer" not in text
    assert "Try again." in text


async def test_bots_hidden_comments_and_what_hangs_on_them_are_left_out_and_a_deleted_account_is_a_ghost(
    a_source: Any, github: Github
) -> None:
    github.repos[PRODUCT].issues[7].comments[0] = Post(body="From nobody.", author=None)
    github.repos[PRODUCT].issues[7].comments += [
        Post(body="Marked as stale.", author="stale[bot]", bot=True),
        Post(body="Buy now.", author="spam", minimized=True),
    ]
    github.repos[PRODUCT].discussions[20].comments[0] = Post(
        body="Spam.", minimized=True, replies=[Post(body="Go away.")]
    )
    source = a_source()
    issue, discussion = await text_of(source), await text_of(source, DISCUSSION)

    assert "**ghost**: From nobody." in issue
    assert not any(words in issue for words in ("stale", "Buy now"))
    assert not any(words in discussion for words in ("Spam", "Go away"))


async def test_a_discussion_whose_marked_answer_was_hidden_is_not_listed(
    a_source: Any, github: Github
) -> None:
    github.repos[PRODUCT].discussions[20].comments[1].minimized = True

    assert DISCUSSION not in await listed(a_source())


async def test_an_edited_answer_and_a_deleted_comment_change_the_revision_and_nothing_else_does(
    a_source: Any, github: Github
) -> None:
    source = a_source()
    before = await listed(source)
    assert await listed(source) == before
    github.repos[PRODUCT].discussions[20].comments[1].edited = "2026-05-05T10:00:00Z"
    github.repos[PRODUCT].issues[11].comments.pop()
    github.repos[PRODUCT].issues[12].title = "Another title"
    after = await listed(source)

    assert {path for path in before if before[path] != after[path]} == {
        DISCUSSION, f"{PRODUCT}/issues/11", f"{PRODUCT}/issues/12",
    }  # fmt: skip


async def test_a_sync_of_what_did_not_change_asks_for_no_comments(a_source: Any, github: Github) -> None:
    await listed(a_source())

    assert not [path for path in github.requests if path.endswith("/comments")]


# who may read


async def test_a_private_repository_is_closed_until_its_readers_are_named(
    a_source: Any, github: Github
) -> None:
    closed = a_source(PRODUCT, INTERNAL)
    refs = await listed(closed)
    inside = f"{INTERNAL}/issues/1"
    assert inside not in refs
    error = await failure(closed, refs[INTERNAL])
    assert error.withdraw
    assert "readers" in error.reason
    assert closed.withdraws(inside)
    assert not closed.withdraws(ISSUE)

    opened = a_source(PRODUCT, INTERNAL, readers={"ACME/internal": ("#eng",)})
    refs = await listed(opened)
    assert (await opened.fetch(refs[inside])).audience == ("#eng",)
    assert (await opened.fetch(refs[ISSUE])).audience is None
    assert (await failure(closed, refs[inside])).withdraw


@pytest.mark.parametrize("visibility", ["private", "internal"])
async def test_a_repository_that_becomes_private_withdraws_its_pages(
    a_source: Any, github: Github, visibility: str
) -> None:
    source = a_source()
    refs = await listed(source)
    github.repos[PRODUCT].private, github.repos[PRODUCT].visibility = True, visibility

    assert list(await listed(source)) == [PRODUCT]
    assert source.withdraws(ISSUE)
    assert (await failure(source, refs[ISSUE])).withdraw


async def test_a_repository_that_went_out_of_sight_withdraws_its_pages_unless_they_have_readers_of_their_own(
    a_source: Any, github: Github
) -> None:
    """A public one cannot vanish from a token's sight unless it is deleted or private now."""
    open_, limited = a_source(PRODUCT, INTERNAL), a_source(PRODUCT, INTERNAL, readers={INTERNAL: ("#eng",)})
    del github.repos[INTERNAL]
    assert INTERNAL in await listed(open_)
    assert open_.withdraws(f"{INTERNAL}/issues/1")
    refs = await listed(limited)

    assert f"{INTERNAL}/" in refs
    assert not limited.withdraws(f"{INTERNAL}/issues/1")
    assert "the token may not see it" in await reason(limited, refs[f"{INTERNAL}/"])


async def test_other_readers_change_the_revision_and_readers_of_a_public_repository_count_too(
    a_source: Any,
) -> None:
    before, limited = a_source(), a_source(readers={PRODUCT: ("#eng",)})
    refs = await listed(limited)

    assert refs[ISSUE].revision != (await listed(before))[ISSUE].revision
    assert (await limited.fetch(refs[ISSUE])).audience == ("#eng",)
    everyone = a_source(INTERNAL, readers={INTERNAL: ("everyone",)})
    inside = (await listed(everyone))[f"{INTERNAL}/issues/1"]
    assert (await everyone.fetch(inside)).audience is None
    assert INTERNAL in await listed(a_source(INTERNAL, readers={INTERNAL: ()}))


# what goes


@pytest.mark.parametrize("how", ["deleted", "moved_to", "labels"])
async def test_an_issue_that_is_deleted_transferred_or_loses_its_label_goes(
    a_source: Any, github: Github, how: str
) -> None:
    source = a_source()
    ref = (await listed(source))[ISSUE]
    setattr(github.repos[PRODUCT].issues[7], how, {"deleted": True, "moved_to": "3", "labels": []}[how])

    assert (await failure(source, ref)).withdraw
    assert ISSUE not in await listed(source)


async def test_a_discussion_that_is_deleted_or_loses_its_answer_goes(a_source: Any, github: Github) -> None:
    source = a_source()
    ref = (await listed(source))[DISCUSSION]
    github.repos[PRODUCT].discussions[20].answer = None
    assert (await failure(source, ref)).withdraw
    github.repos[PRODUCT].discussions[20].deleted = True
    assert (await failure(source, ref)).withdraw
    assert DISCUSSION not in await listed(source)


async def test_a_renamed_repository_is_followed_and_its_pages_keep_their_paths(
    a_source: Any, github: Github
) -> None:
    github.repo("acme/old", renamed_to=PRODUCT)
    source = a_source("acme/old")
    refs = await listed(source)

    assert "acme/old/issues/7" in refs
    assert b"Run `rotate`." in (await source.fetch(refs["acme/old/issues/7"])).content


# what fails


async def test_an_issue_whose_comments_fail_is_that_pages_failure(
    a_source: Any, github: Github, pauses: list[float]
) -> None:
    source = a_source()
    refs = await listed(source)
    for _ in range(6):
        github.fail("/issues/7/comments", 502)
    error = await failure(source, refs[ISSUE])

    assert (error.withdraw, error.reason) == (False, "GitHub answers 502")
    assert len(pauses) == 5
    assert (await source.fetch(refs[f"{PRODUCT}/issues/11"])).content


async def test_a_page_of_comments_that_fails_is_no_short_page(a_source: Any, github: Github) -> None:
    source = a_source()
    refs = await listed(source)
    broken = {"data": {"node": None}, "errors": [{"type": "FORBIDDEN", "message": "Resource not accessible"}]}
    github.fail("node(id:", 200, broken)

    assert "Resource not accessible" in await reason(source, refs[DISCUSSION])


async def test_a_part_that_cannot_be_listed_is_reported_and_nothing_of_it_is_removed(
    a_source: Any, github: Github
) -> None:
    github.fail("discussions(", 403, {"message": "Resource not accessible by personal access token"})
    source = a_source(PRODUCT, "acme/nothing", readers={"acme/nothing": ("#eng",)})
    refs = await listed(source)

    assert ISSUE in refs
    assert {path for path in refs if path.endswith("/")} == {f"{PRODUCT}/discussions/", "acme/nothing/"}
    assert "permission to read Discussions" in await reason(source, refs[f"{PRODUCT}/discussions/"])
    assert not source.withdraws(DISCUSSION)


async def test_a_stranger_reads_public_issues_and_is_told_what_discussions_need(a_source: Any) -> None:
    source = a_source(token=None)
    refs = await listed(source)

    assert ISSUE in refs
    assert "GITHUB_TOKEN" in await reason(source, refs[f"{PRODUCT}/discussions/"])


async def test_a_token_that_expired_is_an_unavailable_source_that_says_so(a_source: Any) -> None:
    with pytest.raises(SourceUnavailableError, match="may have expired: set GITHUB_TOKEN"):
        await listed(a_source(PRODUCT, INTERNAL, token="expired"))


async def test_an_address_that_is_not_githubs_api_is_told(a_source: Any, github: Github) -> None:
    with pytest.raises(SourceUnavailableError, match="correct `api_url`"):
        await listed(a_source(api_url=f"{github.url}/api/v3"))


# how fast


async def test_a_primary_limit_is_waited_for_until_it_ends(
    a_source: Any, github: Github, pauses: list[float]
) -> None:
    headers = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(time.time()) + 1800)}
    github.fail("/issues", 403, {"message": "API rate limit exceeded for user ID 1."}, **headers)

    assert ISSUE in await listed(a_source())
    assert pauses == [pytest.approx(1800, abs=3)]


@pytest.mark.parametrize("status", [403, 429])
async def test_a_secondary_limit_is_waited_out_for_as_long_as_github_says_or_a_minute_that_grows(
    a_source: Any, github: Github, pauses: list[float], status: int
) -> None:
    message = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}
    github.fail("/issues", status, message)
    github.fail("/issues", status, message)
    github.fail("/issues", status, message, Retry_After="17")

    assert ISSUE in await listed(a_source())
    assert 60 <= pauses[0] < 120 <= pauses[1] < 240
    assert pauses[2] == 17


@pytest.mark.parametrize(
    ("error", "headers", "least"),
    [
        ({"type": "RATE_LIMITED", "message": "API rate limit exceeded"}, {"x_ratelimit_remaining": "0"}, 600),
        ({"message": "You have exceeded a secondary rate limit."}, {}, 60),
    ],
)
async def test_graphql_tells_its_limits_with_status_200(
    a_source: Any,
    github: Github,
    pauses: list[float],
    error: dict[str, str],
    headers: dict[str, str],
    least: float,
) -> None:
    reset = {"x_ratelimit_reset": str(int(time.time()) + 600)} if headers else {}
    github.fail("discussions(", 200, {"data": None, "errors": [error]}, **headers, **reset)

    assert DISCUSSION in await listed(a_source())
    assert len(pauses) == 1
    assert least - 3 <= pauses[0] < least + 60


async def test_a_limit_that_does_not_end_is_an_error_of_the_part_with_what_to_do(
    a_source: Any, github: Github
) -> None:
    for _ in range(6):
        github.fail("/issues", 429)
    source = a_source()
    refs = await listed(source)

    assert "sync less often" in await reason(source, refs[f"{PRODUCT}/issues/"])


async def test_a_forbidden_request_is_no_limit_and_is_not_asked_again(
    a_source: Any, github: Github, pauses: list[float]
) -> None:
    github.fail("/issues", 403, {"message": "Resource not accessible by integration"})
    refs = await listed(a_source())

    assert f"{PRODUCT}/issues/" in refs
    assert pauses == []


# by which right


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem_of(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


@pytest.mark.parametrize("how", ["file", "text", "one line"])
async def test_an_app_reads_private_repositories_with_the_token_of_its_installation(
    a_source: Any, github: Github, key: rsa.RSAPrivateKey, tmp_path: Path, how: str
) -> None:
    github.app_key, github.installed = key.public_key(), {"acme": 99}
    file = tmp_path / "app.pem"
    file.write_text(pem_of(key))
    given = {
        "file": {"private_key_file": file},
        "text": {"private_key": pem_of(key)},
        "one line": {"private_key": pem_of(key).replace("\n", "\\n")},
    }[how]
    source = a_source(INTERNAL, token=None, app_id=4711, readers={INTERNAL: ("#eng",)}, **given)

    assert f"{INTERNAL}/issues/1" in await listed(source)
    assert len(github.issued) == 1
    github.issued = ["revoked"]
    assert (await source.fetch((await listed(source))[f"{INTERNAL}/issues/1"])).audience == ("#eng",)
    assert len(github.issued) == 2


async def test_an_app_that_is_not_installed_or_has_the_wrong_key_is_told_so(
    a_source: Any, github: Github, key: rsa.RSAPrivateKey
) -> None:
    github.app_key = key.public_key()
    with pytest.raises(SourceUnavailableError, match=f"not installed on {PRODUCT}"):
        await listed(a_source(app_id="4711", private_key=pem_of(key)))
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with pytest.raises(SourceUnavailableError, match="belong together"):
        await listed(a_source(app_id="4711", private_key=pem_of(other)))
    with pytest.raises(SourceUnavailableError, match=r"whole \.pem file"):
        await listed(a_source(app_id="4711", private_key="-----BEGIN SECRET-----abc"))


async def test_no_secret_is_in_a_log_a_text_or_an_error(
    a_source: Any, github: Github, key: rsa.RSAPrivateKey, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    github.app_key, github.installed = key.public_key(), {"acme": 99}
    told = []
    for source in (
        a_source(),
        a_source(app_id="4711", private_key=pem_of(key)),
        a_source(token="ghp_expired"),
    ):
        github.fail("/repos", 502)
        told += [repr(source._settings), str(source._settings.model_dump())]
        try:
            await listed(source)
        except SourceUnavailableError as error:
            told += [str(error), repr(error.__cause__)]
    told += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    secrets = [github.token, "ghp_expired", *github.issued, pem_of(key).splitlines()[3], "Bearer e"]

    assert not [secret for secret in secrets if any(secret in one for one in told)]


# the wiki


async def test_a_wiki_without_its_frame_is_listed_with_its_own_addresses_and_dates(
    a_source: Any, github: Github, tmp_path: Path
) -> None:
    wiki = await github.wiki(PRODUCT, tmp_path / "wiki")
    wiki.push(Home_md="# Home\n\nWelcome.", guides__Leave__x="x", _Sidebar_md="menu", day="2024-03-05")
    (wiki.work / "_Footer.md").write_text("foot")
    (wiki.work / "How-to:-rotate.md").write_text("# How to\n\nTurn it.")
    wiki.publish(day="2024-03-05")
    source = a_source(issues=False, discussions=False)
    refs = await listed(source)

    assert sorted(refs) == [f"{PRODUCT}/wiki/Home.md", f"{PRODUCT}/wiki/How-to:-rotate.md"]
    raw = await source.fetch(refs[f"{PRODUCT}/wiki/How-to:-rotate.md"])
    assert raw.url == f"{github.url}/acme/product/wiki/How-to%3A-rotate"
    assert (raw.revision, raw.edited) == (refs[raw.path].revision, date(2024, 3, 5))


async def test_a_wiki_in_which_nobody_wrote_is_no_failure_and_one_that_vanished_is(
    a_source: Any, github: Github, tmp_path: Path
) -> None:
    assert not [path for path in await listed(a_source()) if "wiki" in path]
    (await github.wiki(PRODUCT, tmp_path / "wiki")).push(Home_md="# Home")
    source = a_source()
    assert f"{PRODUCT}/wiki/Home.md" in await listed(source)
    github.repos[PRODUCT].wiki = None
    refs = await listed(source)

    assert f"{PRODUCT}/wiki/" in refs
    assert not source.withdraws(f"{PRODUCT}/wiki/Home.md")


async def test_a_private_wiki_is_opened_by_the_token_and_has_the_repositorys_readers(
    a_source: Any, github: Github, tmp_path: Path
) -> None:
    (await github.wiki(INTERNAL, tmp_path / "wiki")).push(Home_md="# Home")
    source = a_source(INTERNAL, readers={INTERNAL: ("#eng",)})
    raw = await source.fetch((await listed(source))[f"{INTERNAL}/wiki/Home.md"])

    assert raw.audience == ("#eng",)
    assert (
        github.token
        not in (tmp_path / "kept")
        .joinpath(next(path.name for path in (tmp_path / "kept").iterdir()), ".git", "config")
        .read_text()
    )

"""What the queue promises on every server that it may meet: Valkey, and Redis 7.0 where the machine has it."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from bot.queue.claims import Claims, Idle, Lease
from bot.queue.dead_letters import MOST, DeadLetters
from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion
from kb.errors import StoreUnavailableError
from kb.store.valkey import connect_redis
from tests.fakes.questions import a_question
from tests.fakes.redis_server import Proxy, RedisServer, a_server


@pytest.fixture(scope="module", params=["valkey", "redis"])
def redis_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RedisServer]:
    with a_server(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture
def queue(redis: Redis, namespace: str) -> QuestionQueue:
    return QuestionQueue(redis, namespace=namespace, settle_s=0)


@pytest.fixture
def claims(redis: Redis, namespace: str) -> Claims:
    return some_claims(redis, namespace)


def some_claims(redis: Redis, namespace: str, lease_s: float = 60) -> Claims:
    return Claims(redis, namespace=namespace, lease=timedelta(seconds=lease_s), keep_claims=timedelta(days=7))


async def taken(claims: Claims, worker: str = "w1") -> Lease:
    lease = await claims.take(worker)
    assert isinstance(lease, Lease)
    return lease


async def all_taken(claims: Claims) -> list[QueuedQuestion]:
    """What is left to do, in its order."""
    questions = []
    while isinstance(lease := await claims.take("w1"), Lease):
        questions.append(lease.question)
        await claims.finish(lease)
    return questions


def deletion_of(question: QueuedQuestion) -> QueuedQuestion:
    return question.model_copy(update={"text": "", "deleted": True, "edited_ts": None})


def edited(question: QueuedQuestion, text: str, edited_ts: str, **changes: Any) -> QueuedQuestion:
    return question.model_copy(update={"text": text, "edited_ts": edited_ts, **changes})


async def test_a_question_is_accepted_once(queue: QuestionQueue) -> None:
    question = a_question()
    assert [await queue.accept(question) for _ in range(3)] == [True, False, False]
    assert (await queue.depth()).waiting == 1


async def test_of_many_replicas_that_get_the_same_event_one_accepts_it(redis: Redis, namespace: str) -> None:
    question = a_question()
    replicas = [QuestionQueue(redis, namespace=namespace) for _ in range(20)]
    accepted = await asyncio.gather(*(replica.accept(question) for replica in replicas))
    assert accepted.count(True) == 1


async def test_a_retry_after_a_lost_reply_still_says_that_the_question_is_ours(
    redis_server: RedisServer, queue: QuestionQueue, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await queue.accept(a_question())  # the server knows the script: the next call is one request
    lost: list[bytes] = []

    def lose_the_first(request: bytes) -> bool:
        if b"EVALSHA" in request and not lost:
            lost.append(request)
            return True
        return False

    path = str(tmp_path_factory.mktemp("proxy") / "p.sock")
    retry = Retry(NoBackoff(), 3, supported_errors=(RedisConnectionError,))
    async with (
        Proxy(redis_server.socket, path, lose=lose_the_first),
        Redis(unix_socket_path=path, retry=retry) as redis,
    ):
        assert await QuestionQueue(redis, namespace=namespace).accept(a_question())
    assert lost
    assert (await queue.depth()).waiting == 2


async def test_without_retries_a_lost_reply_is_an_outage_and_the_next_event_is_a_duplicate(
    redis_server: RedisServer, queue: QuestionQueue, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await queue.accept(a_question())
    question = a_question()
    path = str(tmp_path_factory.mktemp("proxy") / "p.sock")
    async with (
        Proxy(redis_server.socket, path, lose=lambda request: b"EVALSHA" in request),
        connect_redis(path) as redis,
    ):
        with pytest.raises(StoreUnavailableError):
            await QuestionQueue(redis, namespace=namespace).accept(question)
    assert not await queue.accept(question)
    assert (await queue.depth()).waiting == 2


async def test_the_claim_outlives_the_answer(queue: QuestionQueue, claims: Claims) -> None:
    question = a_question()
    await queue.accept(question)
    assert await claims.finish(await taken(claims))
    assert not await queue.accept(question)
    assert await claims.take("w1") == Idle(seconds=None)


async def test_a_question_travels_unchanged(queue: QuestionQueue, claims: Claims) -> None:
    question = a_question(text='“Wat?”\n\\ "quoted" 🏖 null', action_token="xapp-1", mentioned=False)
    await queue.accept(question)
    assert (await taken(claims)).question == question


async def test_a_thread_has_one_holder_and_keeps_its_order(queue: QuestionQueue, claims: Claims) -> None:
    first, second = a_question("1.0"), a_question("1.0")
    await queue.accept(first)
    await queue.accept(second)
    lease = await taken(claims)
    assert lease.question == first
    assert isinstance(await claims.take("w2"), Idle)
    await claims.finish(lease)
    assert (await taken(claims, "w2")).question == second


async def test_questions_whose_events_come_in_another_order_are_asked_as_they_were_written(
    queue: QuestionQueue, claims: Claims
) -> None:
    root = "1700000000.000001"
    written = [a_question(root, ts=f"17000000{n:02d}.000900") for n in range(2, 12)]
    await queue.accept(written[1])
    begun = await taken(claims)
    for at in (5, 2, 9, 0, 8, 3, 7, 4, 6):
        await queue.accept(written[at])
    await claims.finish(begun)
    assert await all_taken(claims) == [written[0], *written[2:]]


async def test_different_threads_are_taken_in_parallel_the_longest_waiting_first(
    queue: QuestionQueue, claims: Claims
) -> None:
    questions = [a_question() for _ in range(3)]
    for question in questions:
        await queue.accept(question)
        await asyncio.sleep(0.002)  # the order is by milliseconds
    assert [(await taken(claims, f"w{n}")).question for n in range(3)] == questions
    assert (await queue.depth()).running == 3


async def test_a_dead_workers_question_keeps_its_place_before_those_accepted_after_it(
    redis: Redis, namespace: str, queue: QuestionQueue
) -> None:
    first, later = a_question(), a_question()
    await queue.accept(first)
    await taken(some_claims(redis, namespace, lease_s=0.05), "dead")
    await queue.accept(later)
    await asyncio.sleep(0.1)
    heir = some_claims(redis, namespace)
    assert [(await taken(heir)).question for _ in range(2)] == [first, later]


async def test_an_expired_lease_is_taken_over_and_its_old_holder_can_change_nothing(
    redis: Redis, namespace: str, queue: QuestionQueue
) -> None:
    question, next_one = a_question("1.0"), a_question("1.0")
    await queue.accept(question)
    await queue.accept(next_one)
    short = some_claims(redis, namespace, lease_s=1.0)
    lost = await taken(short, "dead")
    idle = await short.take("heir")
    assert isinstance(idle, Idle)
    assert idle.seconds is not None
    assert 0 <= idle.seconds <= 1.0
    await asyncio.sleep(1.05)
    heir = await taken(some_claims(redis, namespace), "heir")
    assert (heir.question, heir.attempt) == (question, 2)
    outcomes = [
        await short.renew(lost),
        await short.finish(lost),
        await short.retry(lost, after=timedelta()),
        await short.release(lost),
        await short.dead_letter(lost, reason="late"),
    ]
    assert outcomes == [False] * 5
    assert await short.finish(heir)
    assert (await taken(short)).question == next_one


async def test_a_renewed_lease_is_kept(redis: Redis, namespace: str, queue: QuestionQueue) -> None:
    await queue.accept(a_question())
    lease = await taken(some_claims(redis, namespace, lease_s=1.0))
    assert await some_claims(redis, namespace, lease_s=60).renew(lease)
    await asyncio.sleep(1.05)
    assert isinstance(await some_claims(redis, namespace).take("w2"), Idle)


async def test_a_failed_question_stays_the_first_of_its_thread(queue: QuestionQueue, claims: Claims) -> None:
    first = a_question("1.0")
    await queue.accept(first)
    await queue.accept(a_question("1.0"))
    await claims.retry(await taken(claims), after=timedelta(seconds=1))
    assert isinstance(await claims.take("w1"), Idle)
    await asyncio.sleep(1.05)
    again = await taken(claims)
    assert (again.question, again.attempt, again.failures) == (first, 2, 1)


async def test_a_question_handed_back_is_ready_at_once_and_known_to_have_been_begun(
    queue: QuestionQueue, claims: Claims
) -> None:
    await queue.accept(a_question())
    await claims.release(await taken(claims))
    again = await taken(claims, "w2")
    assert (again.attempt, again.failures, again.releases) == (2, 0, 1)


async def test_a_buried_question_is_a_dead_letter_and_its_thread_goes_on(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    first, second = a_question("1.0"), a_question("1.0")
    await queue.accept(first)
    await queue.accept(second)
    await claims.dead_letter(await taken(claims), reason="ValueError")
    await claims.dead_letter(await taken(claims), reason="KeyError")
    letters = await DeadLetters(redis, namespace=namespace).all()
    assert {(letter.question, letter.reason, letter.attempts) for letter in letters} == {
        (first, "ValueError", 1),
        (second, "KeyError", 1),
    }
    assert (await queue.depth()).waiting == 0


async def test_a_deleted_question_that_waits_is_dropped(queue: QuestionQueue, claims: Claims) -> None:
    first, second, third = a_question("1.0"), a_question("1.0"), a_question("1.0")
    for question in (first, second, third):
        await queue.accept(question)
    for question in (first, second):
        assert await queue.delete(deletion_of(question))
    assert await all_taken(claims) == [deletion_of(first), deletion_of(second), third]
    assert not await queue.accept(first)


async def test_a_thread_whose_only_question_was_deleted_is_gone(queue: QuestionQueue, claims: Claims) -> None:
    question = a_question()
    await queue.accept(question)
    assert await queue.delete(deletion_of(question))
    await claims.finish(await taken(claims))
    assert await claims.take("w1") == Idle(seconds=None)
    assert await queue.oldest_age() is None


async def test_a_deleted_question_that_runs_is_not_started_again(
    queue: QuestionQueue, claims: Claims
) -> None:
    question, second = a_question("1.0"), a_question("1.0")
    await queue.accept(question)
    await queue.accept(second)
    lease = await taken(claims)
    assert not await queue.delete(deletion_of(question))
    assert await queue.is_deleted(question.message_id)
    assert await claims.retry(lease, after=timedelta())
    assert await all_taken(claims) == [deletion_of(question), second]


async def test_a_deletion_that_overtakes_its_message_wins(queue: QuestionQueue) -> None:
    question = a_question()
    assert not await queue.delete(deletion_of(question))
    assert not await queue.accept(question)
    assert (await queue.depth()).waiting == 0


async def test_a_deleted_dead_letter_is_gone(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    question = a_question()
    await queue.accept(question)
    await claims.dead_letter(await taken(claims), reason="ValueError")
    await queue.delete(deletion_of(question))
    assert await DeadLetters(redis, namespace=namespace).all() == []


async def test_the_deletion_is_work_of_the_thread_once_and_after_what_runs(
    queue: QuestionQueue, claims: Claims
) -> None:
    question, later = a_question("1.0"), a_question("1.0")
    await queue.accept(question)
    await queue.accept(later)
    running = await taken(claims)
    deletion = deletion_of(question)
    for _ in range(3):
        await queue.delete(deletion)
    assert isinstance(await claims.take("w2"), Idle)
    await claims.finish(running)
    assert await all_taken(claims) == [deletion, later]
    await queue.delete(deletion)  # redelivered when all is done
    assert await claims.take("w1") == Idle(seconds=None)


async def test_a_question_whose_worker_died_after_its_deletion_is_left_to_the_deletion(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    question = a_question()
    await queue.accept(question)
    await taken(some_claims(redis, namespace, lease_s=0.05), "dead")
    await queue.delete(deletion_of(question))
    await asyncio.sleep(0.1)
    assert (await taken(claims)).question.deleted


async def test_the_deletion_of_a_message_that_was_no_question_is_no_work(
    queue: QuestionQueue, claims: Claims
) -> None:
    await queue.delete(deletion_of(a_question()))
    assert await claims.take("w1") == Idle(seconds=None)
    await queue.delete(
        deletion_of(a_question()), certain=True
    )  # answered long ago, its claim is no longer kept
    assert (await taken(claims)).question.deleted


async def test_the_deletion_goes_where_the_question_was(queue: QuestionQueue, claims: Claims) -> None:
    question, other = a_question("1.0"), a_question("1.0")
    await queue.accept(question)
    await queue.accept(other)
    await taken(claims)
    # Slack does not always say in which thread a deleted message stood.
    await queue.delete(deletion_of(question).model_copy(update={"thread_ts": question.ts}))
    assert isinstance(await claims.take("w2"), Idle)


async def test_the_deletion_takes_every_version_of_a_message(queue: QuestionQueue, claims: Claims) -> None:
    question = a_question(text="A")
    await queue.accept(question)
    running = await taken(claims)
    await queue.accept(edited(question, "B", "1700000001.000000"))
    assert await queue.delete(deletion_of(question))
    await claims.finish(running)
    assert (await taken(claims)).question.deleted
    assert not await queue.accept(edited(question, "C", "1700000002.000000"))


async def test_a_question_of_an_older_version_is_deleted_as_well(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    question = a_question()
    await queue.accept(question)
    await redis.delete(f"{{{namespace}}}:queue:message:{question.id}")  # what it did not keep
    assert await queue.delete(deletion_of(question))
    assert (await taken(claims)).question.deleted


async def test_an_edited_question_that_waits_has_the_new_words_and_keeps_its_place(
    queue: QuestionQueue, claims: Claims
) -> None:
    question, second = a_question("1.0", text="Wha is it?"), a_question("1.0")
    await queue.accept(question)
    await queue.accept(second)
    versions = [
        edited(question, text, f"170000000{n}.5") for n, text in enumerate(("What?", "What is it?"), 1)
    ]
    assert [await queue.accept(one) for one in versions] == [True, True]
    assert (await queue.depth()).waiting == 2
    lease = await taken(claims)
    assert lease.question == versions[-1]
    await claims.finish(lease)
    assert (await taken(claims)).question == second


async def test_an_edit_of_a_question_that_runs_or_ran_is_one_more(
    queue: QuestionQueue, claims: Claims
) -> None:
    question = a_question(text="A")
    await queue.accept(question)
    lease = await taken(claims)
    b = edited(question, "B", "1700000001.000000")
    assert await queue.accept(b)
    await claims.finish(lease)
    again = await taken(claims)
    assert again.question == b
    await claims.finish(again)
    c = edited(question, "C", "1700000002.000000")
    assert await queue.accept(c)
    assert (await taken(claims)).question == c


async def test_an_edit_is_asked_when_its_words_have_settled_and_stands_for_those_before_it(
    redis: Redis, namespace: str
) -> None:
    settling = Claims(
        redis,
        namespace=namespace,
        lease=timedelta(seconds=60),
        keep_claims=timedelta(days=7),
        settle=timedelta(seconds=0.5),
    )
    question, second = a_question("1.0", text="A"), a_question("1.0")
    await settling.accept(question, token="1")
    lease = await taken(settling)
    for n in range(1, 60):
        assert await settling.accept(edited(question, f"A{n}", f"1700000001.{n:06}"), token="1")
    await settling.finish(lease)
    idle = await settling.take("w1")
    assert isinstance(idle, Idle)
    assert idle.seconds is not None
    assert 0 < idle.seconds <= 0.5
    await asyncio.sleep(idle.seconds)
    lease = await taken(some_claims(redis, namespace), "another replica")
    assert lease.question.text == "A59"
    await settling.finish(lease)
    assert await settling.accept(second, token="1")
    assert (await taken(settling)).question == second  # what was no edit has nothing to wait for


async def test_an_edited_question_that_waits_for_a_worker_waits_no_longer_for_its_words(
    redis: Redis, namespace: str
) -> None:
    settling = Claims(
        redis,
        namespace=namespace,
        lease=timedelta(seconds=60),
        keep_claims=timedelta(days=7),
        settle=timedelta(seconds=60),
    )
    question = a_question(text="A")
    await settling.accept(question, token="1")
    assert await settling.accept(edited(question, "B", "1700000001.000000"), token="1")
    assert (await taken(settling)).question.text == "B"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("1700000001.000000+1700000001.000200", "1700000001.000000+1700000001.000300"),
        ("1700000001.000000", "1700000001.000000+1700000001.000300"),
        ("1700000001.000000+1700000009.000300", "1700000002.000000+1700000002.000300"),
        ("1700000001.000000+1700000009.000300", "1700000009.000301"),
    ],
)
async def test_of_two_edits_the_later_wins_whichever_comes_first(
    queue: QuestionQueue, earlier: str, later: str
) -> None:
    question = a_question(text="A")
    assert await queue.accept(edited(question, "C", later))
    assert not await queue.accept(edited(question, "B", earlier))


async def test_a_revision_that_says_nothing_new_is_no_question(queue: QuestionQueue, claims: Claims) -> None:
    question = a_question(text="A")
    await queue.accept(question)
    await claims.finish(await taken(claims))
    assert not await queue.accept(edited(question, "A", "1700000001.000000"))
    assert await queue.accept(edited(question, "A", "1700000002.000000", added="and what was forwarded"))


async def test_words_that_come_back_are_asked_again_and_late_events_are_nothing(
    queue: QuestionQueue, claims: Claims
) -> None:
    first = a_question(text="A")
    b, a = edited(first, "B", "1700000001.900000"), edited(first, "A", "1700000002.000001")
    for version in (first, b, a):
        assert await queue.accept(version)
        await claims.finish(await taken(claims))
    for late in (first, b, a):
        assert not await queue.accept(late)
    assert await queue.accept(edited(first, "B", "1700000003.000001"))


@pytest.mark.parametrize("mention_first", [True, False])
@pytest.mark.parametrize("mention_knows", [True, False])
async def test_a_mention_that_an_edit_adds_is_one_question_in_any_order(
    queue: QuestionQueue, mention_first: bool, mention_knows: bool
) -> None:
    changed = edited(a_question(), "How long?", "1700000001.000001")
    mention = changed if mention_knows else changed.model_copy(update={"edited_ts": None})
    events = [mention, changed] if mention_first else [changed, mention]
    assert [await queue.accept(one) for one in [*events, *events]] == [True, False, False, False]


async def test_an_edit_that_overtakes_its_message_wins(queue: QuestionQueue) -> None:
    question = a_question(text="A")
    assert await queue.accept(edited(question, "B", "1700000001.000000"))
    assert not await queue.accept(question)


async def test_a_mention_after_words_that_were_answered_by_silence_is_new(
    queue: QuestionQueue, claims: Claims
) -> None:
    question = a_question(text="How long?", unasked=True)
    await queue.accept(question)
    await claims.finish(await taken(claims))
    asked = edited(question, "How long?", "1700000001.000000", unasked=False)
    assert await queue.accept(asked)
    await claims.finish(await taken(claims))
    assert not await queue.accept(edited(question, "How long?", "1700000002.000000"))


async def test_many_replicas_that_get_the_events_of_one_edit_accept_it_once(
    redis: Redis, namespace: str
) -> None:
    changed = edited(a_question(), "How long?", "1700000001.000001")
    events = [changed, changed.model_copy(update={"edited_ts": None})] * 10
    replicas = [QuestionQueue(redis, namespace=namespace) for _ in events]
    accepted = await asyncio.gather(*(one.accept(event) for one, event in zip(replicas, events, strict=True)))
    assert accepted.count(True) == 1


async def test_a_message_is_known_from_its_acceptance_to_its_deletion(queue: QuestionQueue) -> None:
    question = a_question()
    assert not await queue.is_known(question.message_id)
    await queue.accept(question)
    assert await queue.is_known(question.message_id)
    await queue.delete(deletion_of(question))
    assert not await queue.is_known(question.message_id)


async def test_a_direct_message_is_worked_on_in_its_order_lines_and_threads_alike(
    queue: QuestionQueue, claims: Claims
) -> None:
    first, second = (a_question(channel="D1", channel_type="im") for _ in range(2))
    reply = a_question(first.ts, channel="D1", channel_type="im")
    other = a_question(channel="D2", channel_type="im")
    for question in (first, second, reply, other):
        await queue.accept(question)
    running = await taken(claims)
    assert (await taken(claims)).question == other
    assert isinstance(await claims.take("w1"), Idle)
    await claims.finish(running)
    assert await all_taken(claims) == [second, reply]


async def test_what_an_older_version_queued_is_answered(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    """A direct message under the thread that it had then, with the fields that it had then."""
    question = a_question(channel="D1", channel_type="im")
    await queue.accept(question)
    root = f"{{{namespace}}}:queue"
    old = f"{question.team}:D1:{question.ts}"
    await redis.rename(f"{root}:thread:{question.thread}", f"{root}:thread:{old}")
    await redis.zrem(f"{root}:ready", question.thread)
    await redis.zadd(f"{root}:ready", {old: 1})
    later = {"added", "shown", "unread", "deleted", "reason", "unasked", "elsewhere"}
    body = question.model_dump_json(exclude=later)
    await redis.hset(f"{root}:question:{question.id}", mapping={"body": body, "thread": old})
    lease = await taken(claims)
    assert lease.question == question
    assert await claims.finish(lease)
    assert (await queue.depth()).waiting == 0


async def test_a_question_that_nobody_can_read_does_not_block_its_thread(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    broken, second = a_question("1.0"), a_question("1.0")
    await queue.accept(broken)
    await queue.accept(second)
    await redis.hset(f"{{{namespace}}}:queue:question:{broken.id}", "body", '{"version": 2}')
    assert (await taken(claims)).question == second
    [letter] = await DeadLetters(redis, namespace=namespace).all()
    assert (letter.id, letter.question, letter.reason) == (broken.id, None, "unreadable")


async def test_the_oldest_age_is_that_of_the_first_unfinished_question(queue: QuestionQueue) -> None:
    assert await queue.oldest_age() is None
    await queue.accept(a_question())
    await asyncio.sleep(0.05)
    await queue.accept(a_question())
    age = await queue.oldest_age()
    assert age is not None
    assert timedelta(seconds=0.045) <= age < timedelta(seconds=60)


async def test_all_keys_of_a_namespace_share_a_cluster_slot(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    for question in (a_question("1.0"), a_question("1.0"), a_question()):
        await queue.accept(question)
    await claims.dead_letter(await taken(claims), reason="ValueError")
    await taken(claims)
    keys = [key.decode() async for key in redis.scan_iter(match=f"*{namespace}*")]
    assert len(keys) > 8
    assert {key.partition("}")[0] for key in keys} == {"{" + namespace}


async def test_nothing_but_claims_is_left_when_all_is_answered(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    questions: list[QueuedQuestion] = [a_question("1.0"), a_question("1.0"), a_question()]
    for question in questions:
        await queue.accept(question)
    for _ in questions:
        await claims.finish(await taken(claims))
    await claims.take("w1")
    kinds = [key.decode().split(":")[2] async for key in redis.scan_iter(match=f"*{namespace}*")]
    assert sorted(kinds) == ["claim"] * 3 + ["clock", "fence"] + ["message"] * 3
    for question in questions:
        for kind in ("claim", "message"):
            assert 0 < await redis.ttl(f"{{{namespace}}}:queue:{kind}:{question.id}") <= 7 * 24 * 3600


AN_HOUR = 3_600_000


async def set_clock(redis: Redis, namespace: str, *, by_ms: int) -> None:
    """As if the server's clock were set: what the queue knows of it stands as far on the other side."""
    await redis.hincrby(f"{{{namespace}}}:queue:clock", "wall", -by_ms)


async def test_a_clock_that_was_set_back_after_a_kill_delays_no_takeover(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    question, other = a_question(), a_question()
    await queue.accept(question)
    dying = some_claims(redis, namespace, lease_s=1.0)
    await taken(dying, "dead")
    await set_clock(redis, namespace, by_ms=-AN_HOUR)
    await queue.accept(other)
    assert (await taken(dying, "w2")).question == other  # what comes now is begun now
    await asyncio.sleep(1.05)
    assert (await taken(dying, "w3")).question == question


async def test_a_clock_that_leaps_ends_no_lease_that_is_kept_alive(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    await queue.accept(a_question())
    lease = await taken(claims)
    for _ in range(3):
        await set_clock(redis, namespace, by_ms=AN_HOUR)
        assert isinstance(await claims.take("w2"), Idle)
        assert await claims.renew(lease)
    assert await claims.finish(lease)


async def test_a_pause_is_as_long_as_it_was_when_the_clock_is_set_back(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    await queue.accept(a_question())
    await claims.retry(await taken(claims), after=timedelta(seconds=1))
    await set_clock(redis, namespace, by_ms=-AN_HOUR)
    told = await claims.take("w1")
    assert isinstance(told, Idle)
    assert told.seconds is not None
    assert told.seconds <= 1.0
    await asyncio.sleep(1.05)
    await taken(claims)


async def test_a_question_that_waits_for_slack_stays_the_first_and_is_woken_when_it_is_back(
    queue: QuestionQueue, claims: Claims
) -> None:
    first, second, other = a_question("1.0"), a_question("1.0"), a_question()
    for question in (first, second):
        await queue.accept(question)
    hour = timedelta(hours=1)
    for number in range(3):
        lease = await taken(claims)
        assert (lease.question, lease.waits, lease.releases) == (first, number, number)
        assert await claims.wait(lease, after=hour)
        assert (await queue.depth()).for_slack == 1
        assert await claims.wake(at_once=False) == 1
    assert await claims.wait(await taken(claims), after=hour, least=hour)
    assert await claims.wake(at_once=False) == 0
    await queue.accept(other)
    lease = await taken(claims)
    assert lease.question == other  # other threads go on
    assert await claims.wake(at_once=True) == 1
    assert (await taken(claims)).question == first
    assert (await queue.depth()).for_slack == 0


async def test_only_one_of_two_replicas_takes_what_waited(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    await queue.accept(a_question())
    await claims.wait(await taken(claims), after=timedelta())
    replicas = [some_claims(redis, namespace) for _ in range(8)]
    found = await asyncio.gather(*(one.take(f"w{number}") for number, one in enumerate(replicas)))
    assert sum(isinstance(one, Lease) for one in found) == 1


async def test_a_dead_letter_that_is_revived_keeps_its_starts_and_its_place_in_its_thread(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    letters = DeadLetters(redis, namespace=namespace)
    first, second = a_question("1.0"), a_question("1.0")
    await queue.accept(first)
    await claims.dead_letter(await taken(claims), reason="is_archived", leftovers=True)
    assert await letters.leftovers() == [first]
    assert await letters.reasons() == {"is_archived": 1}
    await queue.accept(second)
    assert await letters.revive([first.id, "nothing"]) == [first.id]
    assert await letters.leftovers() == []
    assert not await queue.accept(first)
    lease = await taken(claims)
    assert lease.question == first.model_copy(update={"however_late": True})
    assert (lease.attempt, lease.failures, lease.releases) == (2, 0, 1)
    await claims.finish(lease)
    assert (await taken(claims)).question == second


async def test_dead_letters_are_bounded_and_dropped_for_good(
    redis: Redis, namespace: str, queue: QuestionQueue, claims: Claims
) -> None:
    letters = DeadLetters(redis, namespace=namespace)
    for _ in range(MOST + 3):
        await queue.accept(a_question())
        await claims.dead_letter(await taken(claims), reason="is_archived", leftovers=True)
    kept = await letters.all()
    assert len(kept) == MOST
    assert len(await letters.leftovers()) == MOST
    key = f"{{{namespace}}}:queue:question:{kept[0].id}"
    assert 0 < await redis.ttl(key) <= 30 * 24 * 3600
    assert await letters.drop([kept[0].id, kept[0].id]) == [kept[0].id]
    assert not await redis.exists(key)
    assert len(await letters.all()) == MOST - 1

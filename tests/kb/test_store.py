"""How users of the store see it: failures, replies, names."""

from __future__ import annotations

import pytest
from redis.exceptions import BusyLoadingError, ResponseError

from kb.errors import StoreUnavailableError
from kb.store.redis import process_name, store_failures, text_of


@pytest.mark.parametrize(
    "failure", [BusyLoadingError("loading"), ResponseError("OOM"), ConnectionResetError(), TimeoutError()]
)
def test_whatever_the_store_fails_with_is_told_as_unavailable_with_its_cause(failure: Exception) -> None:
    with (
        pytest.raises(StoreUnavailableError, match=r"^conversations cannot be read$") as told,
        store_failures("conversations cannot be read"),
    ):
        raise failure
    assert told.value.__cause__ is failure


def test_a_fault_of_our_own_is_not_blamed_on_the_store() -> None:
    with pytest.raises(KeyError), store_failures("conversations cannot be read"):
        raise KeyError("turns")


def test_a_reply_reads_the_same_whether_the_client_decodes_or_not() -> None:
    assert text_of("Kündigung".encode()) == text_of("Kündigung") == "Kündigung"


def test_two_workers_of_one_process_have_names_of_their_own() -> None:
    assert process_name() != process_name()

"""Injects faults: what the Web API does wrong the next times that a method is called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class InjectedFault:
    """`after`: the call is carried out first, and only then does the answer go wrong or come late (a lost reply).

    `drop` cuts the connection instead of answering. `delay` is in seconds. `body` is sent as it is, as `content_type`.
    """

    method: str
    error: str | None = None
    status: int | None = None
    retry_after: int | None = None
    delay: float = 0.0
    after: bool = False
    drop: bool = False
    body: bytes | None = None
    content_type: str = "text/html"

    @property
    def answers(self) -> bool:
        """Whether the fault replaces the answer (a mere delay does not)."""
        told = (self.error, self.status, self.retry_after, self.body)
        return self.drop or any(one is not None for one in told)


class Faults:
    """A queue of faults for each method; `*` stands for every method."""

    def __init__(self) -> None:
        self._waiting: list[tuple[InjectedFault, int]] = []

    def add(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int | None = None,
        retry_after: int | None = None,
        delay: float = 0.0,
        after: bool = False,
        drop: bool = False,
        body: bytes | None = None,
        content_type: str = "text/html",
        times: int = 1,
    ) -> None:
        """Spoils the next `times` calls of `method`.

        `retry_after` alone means HTTP 429 `ratelimited`; `status` alone a body that is not JSON, as a proxy sends it.
        """
        fault = InjectedFault(
            method=method,
            error=error,
            status=status,
            retry_after=retry_after,
            delay=delay,
            after=after,
            drop=drop,
            body=body,
            content_type=content_type,
        )
        self._waiting.append((fault, times))

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, method: str) -> InjectedFault | None:
        for position, (fault, times) in enumerate(self._waiting):
            if fault.method in (method, "*"):
                if times <= 1:
                    del self._waiting[position]
                else:
                    self._waiting[position] = (fault, times - 1)
                return fault
        return None

"""How long the planner waits for others: 30 s for one that says nothing, 5 minutes for any one operation.

A library's own timeout covers the gap between two bytes, so a peer that sends a byte a second passes it for ever.
Therefore each operation also has an end of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from planner.errors import NodeError

CONNECT_S = 10.0
"""Seconds for which a connection is waited for."""
SILENCE_S = 30.0
"""Seconds after which a peer that says nothing is given up. It is not asked a second time."""
OPERATION_S = 300.0
"""Seconds after which one operation is given up, however often its peer says something."""
AT_ONCE = 4
"""Questions to one vendor at a time; more is refused by some of them as too many requests."""
FIX = "Check the network and the service's status page, then run the same command again."

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def within(
    question: Callable[[], Answer], *, who: str, limit_s: float | None = None, error: type[NodeError] = NodeError
) -> Answer:
    """Return the answer to a question that is given up after `limit_s` seconds (default: OPERATION_S).

    `who` is asked and stands in the error. The question runs in a daemon thread, because nothing interrupts a read
    inside a library. A question that was given up goes on there and does not keep the process from its end.
    """
    (answer,) = all_within(lambda ask: ask(), [question], who=who, limit_s=limit_s, error=error)
    return answer


def all_within(
    question: Callable[[Given], Answer], given: Iterable[Given], *, who: str, limit_s: float | None = None,
    error: type[NodeError] = NodeError, at_once: int = AT_ONCE,
) -> list[Answer]:  # fmt: skip
    """Return the answers to a question about each thing given, in order; one limit holds for all together.

    A failure is raised as soon as it comes, and what was not asked by then is not asked.
    """
    limit_s = OPERATION_S if limit_s is None else limit_s
    answers = asked_together([partial(question, thing) for thing in given], at_once=at_once)
    done, late = wait(answers, timeout=limit_s, return_when=FIRST_EXCEPTION)
    for one in late:
        one.cancel()
    for one in answers:
        if one in done:
            one.result()  # raises its failure
    if late:
        raise error(f"{who}: no complete answer within {limit_s:g} s; it was given up.", fix=FIX)
    return [one.result() for one in answers]


def asked_together(asks: Sequence[Callable[[], Answer]], *, at_once: int = AT_ONCE) -> list[Future[Answer]]:
    """Start all questions, `at_once` at a time, and return the futures of their answers, in the order of the questions.

    A question that has begun is not stopped from outside; Ctrl-C ends the program without waiting for it.
    """
    answers: list[Future[Answer]] = [Future() for _ in asks]
    waiting: SimpleQueue[tuple[Callable[[], Answer], Future[Answer]]] = SimpleQueue()
    for pair in zip(asks, answers, strict=True):
        waiting.put(pair)

    def work() -> None:
        while True:
            try:
                ask, answer = waiting.get_nowait()
            except Empty:
                return
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                answer.set_result(ask())
            except BaseException as error:  # noqa: BLE001  raised where the answer is asked for
                answer.set_exception(error)

    for _ in range(min(at_once, len(asks))):
        Thread(target=work, daemon=True).start()
    return answers

"""Limits the planner's waiting for other services: 30 s of silence, 5 minutes per operation.

A library's own timeout covers the gap between two bytes, so a peer that sends one byte per second never triggers it.
Therefore each operation also has a total limit.
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
"""Seconds to wait for a connection."""
SILENCE_S = 30.0
"""Seconds after which a silent request ends. It is not repeated."""
OPERATION_S = 300.0
"""Seconds after which an operation ends, even if its peer keeps sending."""
AT_ONCE = 4
"""Requests to one vendor at a time. Some vendors refuse more as too many requests."""
FIX = "Check the network and the service's status page, then run the same command again."

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def within(
    question: Callable[[], Answer], *, who: str, limit_s: float | None = None, error: type[NodeError] = NodeError
) -> Answer:
    """Return the answer to a question. Raises `error` after `limit_s` seconds (default: OPERATION_S).

    `who` names the peer in the error. The question runs in a daemon thread, because a read inside a library cannot be
    interrupted. An abandoned question continues there, and does not keep the process from ending.
    """
    (answer,) = all_within(lambda ask: ask(), [question], who=who, limit_s=limit_s, error=error)
    return answer


def all_within(
    question: Callable[[Given], Answer], given: Iterable[Given], *, who: str, limit_s: float | None = None,
    error: type[NodeError] = NodeError, at_once: int = AT_ONCE,
) -> list[Answer]:  # fmt: skip
    """Return the answers to a question about each item of `given`, in order, with one time limit for all.

    The first failure is raised at once, and questions that have not started are cancelled.
    """
    limit_s = OPERATION_S if limit_s is None else limit_s
    answers = asked_together([partial(question, thing) for thing in given], at_once=at_once)
    done, late = wait(answers, timeout=limit_s, return_when=FIRST_EXCEPTION)
    for future in late:
        future.cancel()
    for future in answers:
        if future in done:
            future.result()  # raises its failure
    if late:
        raise error(f"{who}: no complete answer within {limit_s:g} s; it was given up.", fix=FIX)
    return [future.result() for future in answers]


def asked_together(asks: Sequence[Callable[[], Answer]], *, at_once: int = AT_ONCE) -> list[Future[Answer]]:
    """Start all questions, `at_once` at a time, and return the futures of their answers in order.

    A running question cannot be stopped. Ctrl-C ends the program without waiting for it.
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

"""Questions that are asked at the same time, so that a slow vendor keeps no other waiting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Answer = TypeVar("Answer")
AT_ONCE = 4
"""Of one vendor; more is refused by some of them as too many requests."""


def asked_together(asks: Sequence[Callable[[], Answer]], *, at_once: int = AT_ONCE) -> list[Future[Answer]]:
    """Start all questions, as many at once, and return what will hold their answers, in the order of the questions.

    `result()` waits for an answer, and raises what the question raised; the others go on. Nothing is stopped from
    outside: each question has a time-out of its own. Ctrl-C ends the program without waiting for them.
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
            try:
                answer.set_result(ask())
            except BaseException as error:  # noqa: BLE001  # it is raised where the answer is asked for
                answer.set_exception(error)

    for _ in range(min(at_once, len(asks))):
        Thread(target=work, daemon=True).start()
    return answers

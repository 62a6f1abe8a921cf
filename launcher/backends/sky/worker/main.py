"""The process that holds SkyPilot: one question per line in, one answer per line out. Only this package imports sky.

It is a separate process because SkyPilot prints to stdout where our data goes, needs seconds to import, and fixes its
home, its catalogs and its API server at import: a Capacity Block needs others than an ordinary launch.
Questions come on stdin as `{"id": number, "do": name, ...}`. Answers go to a separate descriptor, whose number is the
argument, as `{"id": number, "ok": ...}` or `{"id", "error": {"type", "message"}}`, so that they cannot mix with what
libraries print.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from planner.launcher.backends.sky.worker.cluster import down, reach, rest
from planner.launcher.backends.sky.worker.launch import check_settings, dry_run, submit
from planner.launcher.backends.sky.worker.logs import log, provision_log
from planner.launcher.backends.sky.worker.managed import down_managed, look_managed, managed_jobs
from planner.launcher.backends.sky.worker.plain_text import plain
from planner.launcher.backends.sky.worker.status import clusters, look


def main() -> None:
    """Answer questions until the client is gone, then end at once. Everything that SkyPilot prints goes to stderr.

    It ends even in the middle of an answer. Otherwise a submission without its client could finish after the next
    client found that there is nothing.
    """
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8", errors="replace")
    os.set_inheritable(answers.fileno(), False)
    os.dup2(sys.stderr.fileno(), 1)  # for output of C libraries and child processes
    sys.stdout = sys.stderr
    asked = os.fdopen(os.dup(0), encoding="utf-8")
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 0)  # a program under SkyPilot must not read a question
    questions: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(asked, questions), daemon=True).start()
    while True:
        question = json.loads(questions.get())
        number = question.pop("id")
        try:
            answer: dict[str, Any] = {"ok": ANSWERS[question.pop("do")](**question)}
        except Exception as error:  # noqa: BLE001  every SkyPilot exception has to reach the other side
            answer = {"error": {"type": type(error).__name__, "message": plain(str(error))}}
        except SystemExit as error:  # its command-line parts exit when they fail
            answer = {"error": {"type": "SystemExit", "message": f"SkyPilot gave up with code {error.code}"}}
        answers.write(json.dumps({"id": number, **answer}, default=str, ensure_ascii=False) + "\n")
        answers.flush()


def _read(asked: IO[str], questions: queue.Queue[str]) -> None:
    for line in asked:
        questions.put(line)
    os._exit(0)


ANSWERS: dict[str, Callable[..., Any]] = {
    "dry_run": dry_run,
    "check_settings": check_settings,
    "submit": submit,
    "look": look,
    "look_managed": look_managed,
    "log": log,
    "provision_log": provision_log,
    "reach": reach,
    "down": down,
    "down_managed": down_managed,
    "clusters": clusters,
    "managed_jobs": managed_jobs,
    "rest": rest,
}

if __name__ == "__main__":
    main()

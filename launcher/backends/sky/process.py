"""The processes that hold SkyPilot (worker/main.py): each answers one question at a time, and explains refusals.

A launch uses the user's own SkyPilot, or one whose catalog has our price of a Capacity Block.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

from planner import time_limits
from planner.errors import MissingExtraError, NodeError
from planner.launcher.backends.sky.catalog import own_catalog
from planner.launcher.backends.sky.phase import SETTING_ERROR, plain_words, setting_refusal
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.target import LaunchProvider
from planner.redact import clean

WORKER = "planner.launcher.backends.sky.worker.main"
PACKAGES = Path(__file__).resolve().parents[3]
ANSWER_TIMEOUT_S = time_limits.OPERATION_S
"""Time limit of one answer. Taking a cluster down waits for its cloud; a launch is not waited for."""
LOOK_S = 1.0
"""Seconds between two checks that the process still runs, while its answer is awaited."""
LONGEST_ANSWER = 50_000_000
"""Limit of an answer in bytes. Logs are cut to their end before they are passed on."""
CHUNK = 65536
LONGEST_LINE = 1_000_000
KEY_BEGINS, KEY_ENDS = b"PRIVATE KEY-----", b"-----END"
KEY_LINES = 150
"""Lines of the longest private key."""
LOG_PATIENCE_S = 1.0
"""Time to wait for the end of the log. A program of SkyPilot that continues may keep it open."""


class SkyRefusalError(NodeError):
    """SkyPilot, or the provider behind it, refused; `sky_type` is the name of its exception."""

    def __init__(self, sky_type: str, said: str) -> None:
        reason, fix = plain_words(sky_type, said)
        super().__init__(reason, fix=fix)
        self.sky_type = sky_type


class SkyProcess:
    """SkyPilot in its own process, started at the first question. Threads may share it.

    `extra` is added to the environment. With SKY_RUNTIME_DIR and SKYPILOT_API_SERVER_LOCAL_PORT it is a separate
    SkyPilot with its own catalogs and its own API server. The server continues when this process ends, as SkyPilot
    intends.
    """

    def __init__(self, extra: Mapping[str, str] | None = None, *, log: Path) -> None:
        self._extra = dict(extra or {})
        self._log = log
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: IO[bytes] | None = None
        self._writer: threading.Thread | None = None
        self._asked = 0

    def ask(self, do: str, *, timeout_s: float | None = None, **question: Any) -> Any:
        """Return the answer to one question. Raises SkyRefusalError with SkyPilot's own reason."""
        with self._lock:
            process = self._running()
            answer = self._answer(process, {"do": do, **question}, timeout_s or ANSWER_TIMEOUT_S)
        if "error" in answer:
            sky_type, said = str(answer["error"].get("type")), str(answer["error"].get("message"))
            raise setting_refusal(said) if sky_type == SETTING_ERROR else SkyRefusalError(sky_type, said)
        return answer["ok"]

    def ask_running(self, do: str, *, timeout_s: float) -> Any:
        """Return the answer to one question; None if no process runs. It is not started for this."""
        return None if self._process is None else self.ask(do, timeout_s=timeout_s)

    def close(self) -> None:
        """End the process. SkyPilot's server and running jobs stay."""
        with self._lock:
            self._end()

    def __del__(self) -> None:
        self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        if importlib.util.find_spec("sky") is None:
            raise MissingExtraError("SkyPilot", "launch")
        environment = {"SKYPILOT_DISABLE_USAGE_COLLECTION": "1", **os.environ, **self._extra}
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([*([known] if known else []), str(PACKAGES)])
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(writing)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,  # what libraries print must not mix with answers
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                env=environment,
                start_new_session=True,  # Ctrl-C must reach only us: we ask SkyPilot to take down what it is launching
            )
            assert self._process.stdout is not None
            words = _opened(self._log), self._process.stdout
            self._writer = threading.Thread(target=_write_log, args=words, daemon=True)
            self._writer.start()
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self._answers = os.fdopen(reading, "rb", buffering=0)
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], question: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        assert process.stdin is not None
        self._asked += 1
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps({"id": self._asked, **question}).encode() + b"\n")
                process.stdin.flush()
            line, in_time = self._line(process, timeout_s)
        except BaseException:  # an interruption must not leave half an answer to the next question
            self._end()
            raise
        answer = _parsed(line)
        if answer is not None and answer.get("id") == self._asked:
            return answer
        self._end()
        said = "ended without a whole answer" if in_time else f"did not answer within {timeout_s:g} s"
        raise NodeError(f"SkyPilot {said} ({question['do']}).", fix=f"Its own words are in {self._log}.")

    def _line(self, process: subprocess.Popen[bytes], timeout_s: float) -> tuple[bytes, bool]:
        """Return the output up to the end of the line, and whether the line or the process's end came in time.

        A program that keeps the pipe open after the process's end is not waited for.
        """
        assert self._answers is not None
        until_s = time.monotonic() + timeout_s
        line = bytearray()
        while len(line) < LONGEST_ANSWER and (left_s := until_s - time.monotonic()) > 0:
            ended = process.poll() is not None  # checked first: output from before the end may still be read
            if select.select([self._answers], [], [], 0.0 if ended else min(LOOK_S, left_s))[0]:
                read = os.read(self._answers.fileno(), CHUNK)
                line += read
                if not read or line.endswith(b"\n"):
                    return bytes(line), True
            elif ended:
                return bytes(line), True
        return bytes(line), len(line) >= LONGEST_ANSWER

    def _end(self) -> None:
        process, self._process = self._process, None
        answers, self._answers = self._answers, None
        if process is not None:
            process.kill()
        for pipe in (answers, process.stdin if process is not None else None):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if process is not None:
            process.wait()
        if self._writer is not None:
            self._writer.join(LOG_PATIENCE_S)


def _write_log(log: IO[bytes], words: IO[bytes]) -> None:
    """Write SkyPilot's output to the log, line by line and without secrets, until every writer is gone."""
    with log, words:
        while line := words.readline(LONGEST_LINE):
            lines = [line]
            while KEY_BEGINS in lines[0] and KEY_ENDS not in lines[-1] and len(lines) < KEY_LINES and line:
                lines.append(line := words.readline(LONGEST_LINE))  # a key is hidden as a whole
            with contextlib.suppress(OSError):  # a full disk must not block what SkyPilot prints
                log.write(clean(b"".join(lines).decode("utf-8", errors="replace")).encode())
                log.flush()


def _opened(log: Path) -> IO[bytes]:
    """Open the log. If the disk cannot be written, discard the output: machines must come down anyway."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("ab")
    except OSError:
        return Path(os.devnull).open("ab")


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return an answer; None for anything else, such as a truncated line."""
    try:
        answer = json.loads(line.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return None
    whole = isinstance(answer, dict) and ("ok" in answer or isinstance(answer.get("error"), dict))
    return answer if whole else None


REST_TIMEOUT_S = 30.0


class SkyProcessPool:
    """Processes that hold a SkyPilot each, created on demand. `place` is for logs and own catalogs."""

    def __init__(self, place: Path, *, sky_home: Path) -> None:
        self._place = place
        self._sky_home = sky_home
        self._ordinary: SkyProcess | None = None
        self._own: dict[str, SkyProcess] = {}

    def ordinary(self) -> SkyProcess:
        """Return the user's own SkyPilot."""
        if self._ordinary is None:
            self._ordinary = SkyProcess(log=self._place / "sky.log")
        return self._ordinary

    def of(self, launch: Launch) -> SkyProcess:
        """Return the SkyPilot of this launch."""
        target, rate = launch.target, launch.bill.rate
        if target.provider is not LaunchProvider.AWS or target.reservation is None or rate is None:
            return self.ordinary()
        if target.name not in self._own:
            place = self._place / f"catalog-{target.name}"
            extra = own_catalog(target, usd_per_node_hour=rate.usd_per_node_hour, sky_home=self._sky_home, place=place)
            self._own[target.name] = SkyProcess(extra, log=place / "sky.log")
        return self._own[target.name]

    def all_of(self, launches: Collection[Launch]) -> list[tuple[SkyProcess, str]]:
        """Return every SkyPilot that these launches may have used, with its name."""
        reserved = {launch.target.name: launch for launch in launches if launch.target.reservation is not None}
        own = [(self.of(launch), f"SkyPilot for {name}") for name, launch in sorted(reserved.items())]
        return [(self.ordinary(), "SkyPilot"), *own]

    def close(self) -> None:
        """End the processes. The user's API server continues. One of ours ends too, unless it has work to do."""
        for process in self._own.values():
            with contextlib.suppress(NodeError):  # then it continues as before
                process.ask_running("rest", timeout_s=REST_TIMEOUT_S)
            process.close()
        if self._ordinary is not None:
            self._ordinary.close()
        self._ordinary, self._own = None, {}

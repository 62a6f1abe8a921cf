"""The yes or no before money is spent, asked on a real terminal; and what is not a terminal is never asked."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
QUESTION = b"[y/N]:"
HOSTS = "schema_version: 1\nhosts:\n  away: {address: 127.0.0.1, port: 1, usd_per_hour: 6}\n"
"""No process listens there."""
LONGEST_SILENCE_S = 120
LONGEST_END_S = 10
"""Until a person presses Ctrl-C again."""


class Terminal:
    """A client with a terminal for stdin and stderr, and a pipe for its data."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        self.shown = b""
        with _heeding_interrupts():
            self.process = subprocess.Popen(
                [sys.executable, "-m", "planner.cli.main", *arguments, "--home", str(home)],
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=theirs,
                cwd=ROOT,
                env=os.environ | {"TERM": "dumb", "COLUMNS": "100"},
            )
        os.close(theirs)

    def read_until(self, end: bytes) -> None:
        """Read what is shown up to `end`; a client that ends before it fails the test."""
        while end not in self.shown:
            more = self._read()
            assert more, self.shown.decode()
            self.shown += more

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._ours, text.encode() + b"\n")

    def press_ctrl_c(self) -> None:
        """Press it until the client has ended: Python loses a signal that comes just as it begins to read.

        The terminal is not the client's controlling one, so no one else turns the key into a signal.
        """
        for _ in range(LONGEST_SILENCE_S // LONGEST_END_S):
            os.write(self._ours, b"\x03")
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LONGEST_END_S)
                return

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and stdout."""
        with contextlib.suppress(OSError):  # a terminal without a client is an I/O error
            while more := self._read():
                self.shown += more
        out, _ = self.process.communicate()
        return self.process.returncode, out.decode()

    def close(self) -> None:
        """Kill the client where it still runs, and close the terminal."""
        with self.process:
            self.process.kill()
        os.close(self._ours)

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._ours], [], [], LONGEST_SILENCE_S)
        assert ready, f"the client hangs after: {self.shown.decode()}"
        return os.read(self._ours, 4096)


@contextlib.contextmanager
def _heeding_interrupts() -> Iterator[None]:
    """Undo for a child what a shell does to jobs in the background, this suite among them: they ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "hosts.yaml").write_text(HOSTS, encoding="utf-8")
    return folder


@pytest.fixture
def asked(home: Path) -> Iterator[Terminal]:
    terminal = Terminal(home, "launch", "cpu-smoke", "--on", "host/away", "--max-minutes", "15")
    yield terminal
    terminal.close()


@pytest.mark.parametrize(
    "answer", [pytest.param("n", id="no"), pytest.param("", id="enter alone"), pytest.param("maybe\nn", id="neither")]
)
def test_whoever_does_not_say_yes_launches_nothing(asked, home, answer):
    asked.read_until(QUESTION)
    assert b"Launch for 6.00 USD at worst?" in asked.shown  # 15 + 35 + 10 minutes at 6 USD/h
    asked.type(answer)
    code, out = asked.end()
    assert code == 0
    assert "6.00 USD at most" in out  # the bill was shown before
    assert b"Nothing was launched" in asked.shown
    assert not (home / "ledger.sqlite").exists()


def test_ctrl_c_at_the_question_launches_nothing(asked, home):
    asked.read_until(QUESTION)
    asked.press_ctrl_c()
    code, _ = asked.end()
    assert code == 130
    assert not (home / "ledger.sqlite").exists()


def test_yes_launches(asked, home):
    """The host is asked, and does not answer: so nothing is written down that would have to be proven gone."""
    asked.read_until(QUESTION)
    asked.type("y")
    code, _ = asked.end()
    assert code == 4
    assert b"away: ssh cannot reach it" in asked.shown
    assert b"Nothing was launched" not in asked.shown
    assert not (home / "ledger.sqlite").exists()


@pytest.mark.slow
def test_a_price_that_rose_while_the_question_stood_launches_nothing(asked, home):
    """6 USD were agreed to, and the host's file says 7 when the answer comes."""
    asked.read_until(QUESTION)
    (home / "hosts.yaml").write_text(HOSTS.replace("usd_per_hour: 6", "usd_per_hour: 7"), encoding="utf-8")
    asked.type("y")
    code, _ = asked.end()
    assert code == 3
    assert b"was 6.00 USD, and is 7.00 USD now" in b" ".join(asked.shown.split())
    assert not (home / "ledger.sqlite").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stdin", [pytest.param("</dev/null", id="empty"), pytest.param("<&-", id="closed")])
def test_without_a_terminal_nothing_is_asked_and_nothing_launched(home, stdin):
    words = [sys.executable, "-m", "planner.cli.main", "launch", "cpu-smoke", "--on", "host/away", "--home", str(home)]
    done = subprocess.run(
        ["bash", "-c", f'"$@" {stdin}', "bash", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, QUESTION.decode() in done.stderr) == (0, False)
    assert "To launch, add --yes" in done.stderr
    assert not (home / "ledger.sqlite").exists()

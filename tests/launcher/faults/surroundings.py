"""Rows: odd places and surroundings of a client, and other servers under a provider's address."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.launcher.faults.acts import Act, at_once, launching, left, sets, sky, worst, writes
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE
from tests.launcher.faults.world import H100_AT_LAMBDA, LAUNCH, P4D, Done, WorldOfFaults

OPEN = "COLLECTED"
LYING = sky("down", answer=True)
GONE_FROM_SKY = sky("status", answer=[])
ONE_LAUNCH = "schema_version: 1\ntotal_usd: 30\n"
LONG_LINE = f"{'x' * 55_000_000}\nPLANNER-DONE run={{run}} rank=0 exit=0\n"


class Nothing(BaseHTTPRequestHandler):
    """An API that shows no machines to any caller."""

    answer, kind = b'{"data": []}', "application/json"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class NoInstances(Nothing):
    """EC2 with the same contents; its one region is that of the launch."""

    kind = "text/xml"
    answer = (
        b'<Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><regionInfo><item><regionName>us-east-1'
        b"</regionName></item></regionInfo><reservationSet/></Response>"
    )


def shell(script: str, *words: str) -> Act:
    """Return a step that runs a command by a line of the shell, in which it is "$@"."""

    def act(world: WorldOfFaults) -> Done:
        finished = subprocess.run(
            ["bash", "-c", script, "bash", sys.executable, "-m", "planner.cli.main", *words],
            env=world.environment | world.fault_settings(), cwd=world.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return Done(finished.returncode, finished.stdout, finished.stderr)

    return act


def elsewhere(variable: str, handler: type[Nothing], path: str, *words: str, on: tuple[str, ...] = P4D) -> Act:
    """Return a step that takes down while a provider's address leads to a server that knows no machine."""

    def act(world: WorldOfFaults) -> Done:
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            other = sets(**{variable: f"http://127.0.0.1:{server.server_port}{path}"})
            try:
                return left(OPEN, *words, then=(LYING, GONE_FROM_SKY, other), on=on)(world)
            finally:
                server.shutdown()

    return act


def no_lock(world: WorldOfFaults) -> None:
    """Prevent opening the lock file of the launch, like a disk that is mounted for reading."""
    lock = world.home / "launches" / world.entry().launch.run_id / "driver.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()


def of_a_newer_planner(world: WorldOfFaults) -> None:
    """Give the ledger a version that this planner does not know."""
    world.ids = [entry.launch.run_id for entry in world.entries()]
    with closing(sqlite3.connect(world.home / "ledger.sqlite")) as connection, connection:
        connection.execute("PRAGMA user_version = 9")


def leads_to_itself(world: WorldOfFaults) -> None:
    """Make the ledger a link to itself."""
    (world.home / "ledger.sqlite").symlink_to(world.home / "ledger.sqlite")


def half_installed(world: WorldOfFaults) -> None:
    """Break the import of SkyPilot."""
    writes("broken/sky/__init__.py", "raise ImportError('half installed')\n")(world)
    before = world.environment["PYTHONPATH"]
    world.environment["PYTHONPATH"] = os.pathsep.join([str(world.folder / "broken"), before])


def long_line(world: WorldOfFaults) -> None:
    """Give the job's log a line that is longer than any answer may be."""
    run_id = world.entry().launch.run_id
    sky("tail_logs", answer=LONG_LINE.format(run=run_id))(world)


def odd_files(world: WorldOfFaults) -> None:
    """Leave unexpected files and folders beside the node's result."""

    def leave(run_id: str) -> None:
        place = world.node / "planner-results" / run_id / "start-1"
        place.mkdir(parents=True, exist_ok=True)
        (place / "result.json").write_bytes(world.result)
        os.mkfifo(place / "pipe.log")
        for name in (f"{'x' * 200}.json", "a\nb.json", "\u202etxt.log", "-rf", "~", "%2e%2e", "driver.lock"):
            (place / name).write_text("x", encoding="utf-8")
        for name in ("dir.log", "start-1", "node-7"):
            (place / name).mkdir()
        for number in range(2000):
            (place / f"{number}.txt").touch()
        (place.parent / "start-99999999999999999999").mkdir()

    world.leave_results = leave  # type: ignore[method-assign]


def three_clients(world: WorldOfFaults) -> list[Done]:
    """Launch with three clients at once and a budget for one of them."""
    writes("workspace/budget.yaml", ONE_LAUNCH)(world)
    return at_once((*LAUNCH, *P4D), (*LAUNCH, *P4D), (*LAUNCH, *P4D))(world)


SURROUNDINGS = (
    Fault(
        "all-closed", "stdin, stdout and stderr closed", "client", "the watch goes on to its end",
        shell('"$@" <&- >&- 2>&-', *LAUNCH, *P4D), 0, GONE, "completed",
    ),
    Fault(
        "few-files", "sixteen open files at most", "client", "no difference",
        shell('ulimit -n 16; "$@"', *LAUNCH, *P4D), 0, GONE, "completed",
    ),
    Fault(
        "folder-gone", "the folder in which the client was started is gone", "client", "no difference",
        shell('mkdir here && cd here && rmdir ../here && "$@"', *LAUNCH, *P4D), 0, GONE, "completed",
    ),
    Fault(
        "no-lock", "the launch cannot be locked (a disk mounted for reading), then `collect`", "disk",
        "collected and taken down all the same", left("RUNNING", COLLECT, then=(no_lock,)), 0, GONE, "completed",
    ),
    Fault(
        "newer-ledger", "the ledger is a newer planner's, then `down ID`", "ledger", "ended by its label",
        left("RUNNING", "launches down ID", then=(of_a_newer_planner,)), 4, None,
    ),
    Fault(
        "ledger-loop", "the ledger is a link to itself", "ledger", "nothing is submitted", launching(leads_to_itself),
        2, None,
    ),
    Fault(
        "half-installed", "SkyPilot cannot be imported any more", "SkyPilot", "the cloud ends the machine; exit 4",
        left("RUNNING", DOWN, then=(half_installed,)), 4, "LOST", "cancelled",
    ),
    Fault(
        "proxy-odd", "a proxy's address with a slash in its password", "client", "nothing is proven",
        left(OPEN, DOWN, then=(sets(HTTPS_PROXY="http://me:hunter2/secret@proxy.example:3128"), LYING),
            on=H100_AT_LAMBDA), 4, OPEN, "completed", said="Lambda does not answer: InvalidURL",
    ),
    Fault(
        "lambda-elsewhere", "another address of Lambda, which has no machines", "Lambda",
        "unknown: it was not started there", elsewhere("LAMBDA_ENDPOINT_URL", Nothing, "/api/v1", DOWN,
            on=H100_AT_LAMBDA), 4, OPEN, "completed", said="keys of",
    ),
    Fault(
        "ec2-elsewhere", "another address of EC2, which has no machines", "EC2",
        "unknown: it was not started there", elsewhere("AWS_ENDPOINT_URL_EC2", NoInstances, "", DOWN), 4, OPEN,
        "completed", said="keys of",
    ),
    Fault(
        "long-line", "a line of 55 MB in the job's log", "host", "its end comes home",
        left("RUNNING", COLLECT, then=(long_line,)), 0, GONE, "completed",
    ),
    Fault(
        "odd-files", "pipes, odd names and 2,000 files beside the result", "host", "left out, or as they are",
        launching(odd_files), 0, GONE, "completed",
    ),
    Fault(
        "three-clients", "three clients, a budget for one", "budget", "two are refused",
        worst(three_clients, [0, 3, 3]), 3, GONE, "completed",
    ),
    Fault(
        "odd-variables", "variables of others that hold nonsense", "client", "no difference",
        launching(sets(COLUMNS="0", LINES="x", TERM="none", PYTHONOPTIMIZE="2", AWS_MAX_ATTEMPTS="often",
            AWS_DEFAULT_REGION="us east", SSL_CERT_FILE="/nonexistent", A_VALUE="two\nlines\x1b[2J")), 0, GONE,
        "completed",
    ),
)  # fmt: skip

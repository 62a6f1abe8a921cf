"""Rows: collected results are broken, missing, hostile or cannot be copied."""

from __future__ import annotations

import json

from tests.launcher.conftest import good_result
from tests.launcher.faults.acts import boots, launching, left, result, sky
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE, REAP
from tests.launcher.faults.world import WorldOfFaults

GOOD = json.dumps(good_result()).encode()
UNREACHABLE = sky(
    "reach", answer={"ssh_config": "Host {cluster}\n  HostName 127.0.0.1\n  Port 1\n", "addresses": ["127.0.0.1"]}
)


def links(world: WorldOfFaults) -> None:
    """Replace the node's results by a link to a file of this machine."""
    secret = world.folder / "secret.json"
    secret.write_bytes(GOOD)

    def leave(run_id: str) -> None:
        place = world.node / "planner-results" / run_id / "start-1"
        place.mkdir(parents=True, exist_ok=True)
        (place / "result.json").symlink_to(secret)

    world.leave_results = leave  # type: ignore[method-assign]


RESULTS = (
    Fault(
        "no-result", "the job succeeds without a result", "host", "no result is no success",
        launching(boots(results=False)), 4, GONE, "failed|lost",
    ),
    Fault(
        "result-cut", "a result that is cut off", "host", "a half result is none", launching(result(GOOD[:1000])), 4,
        GONE, "failed",
    ),
    Fault(
        "result-bytes", "a result that is not UTF-8", "host", "said; the launch is over",
        launching(result(b"\xff\xfe\x00" * 100)), 4, GONE, "failed",
    ),
    Fault(
        "result-list", "a result that is a list", "host", "said; the launch is over", launching(result(b"[1, 2]")),
        4, GONE, "failed",
    ),
    Fault(
        "result-empty", "an empty result", "host", "said; the launch is over", launching(result(b"")), 4, GONE,
        "failed",
    ),
    Fault(
        "result-nan", "a result with NaN", "host", "said; the launch is over",
        launching(result(GOOD.replace(b'"window_s": 60.0', b'"window_s": NaN'))), 4, GONE, "failed",
    ),
    Fault(
        "result-deep", "a result nested 100,000 deep", "host", "said; the launch is over",
        launching(result(b"[" * 100_000)), 4, GONE, "failed",
    ),
    Fault(
        "result-huge", "a result of 20 MB", "host", "not read", launching(result(b" " * 20_000_000 + GOOD)), 4, GONE,
        "failed",
    ),
    Fault(
        "result-keys", "a result with a key that none has", "host", "refused by its model",
        launching(result(json.dumps(good_result() | {"note": "?"}).encode())), 4, GONE, "failed",
    ),
    Fault(
        "result-escapes", "a result whose error holds escape sequences", "host", "no escape reaches the terminal",
        launching(result(json.dumps(good_result(error="\x1b]0;x\x07\x1b[2J", exit_reason="crashed")).encode())), 4,
        GONE,
    ),
    Fault(
        "result-link", "a result that is a link to a file here", "host", "not followed", launching(links), 4, GONE,
    ),
    Fault(
        "no-last-line", "a log without the last line of the node", "host", "truncated",
        launching(boots(sentinel=False)), 4, GONE, "truncated",
    ),
    Fault(
        "log-bytes", "a log that is not text", "host", "replaced where it is none",
        launching(sky("tail_logs", answer="\udcff\x00\x1b[2J\ud800\nPLANNER-DONE run= rank=0 exit=0\n")), 4, GONE,
        "truncated",
    ),
    Fault(
        "log-fails", "the log cannot be read", "SkyPilot", "the result comes home without it, as truncated",
        launching(sky("tail_logs", error=("ValueError", "no log"))), 4, GONE, "truncated",
    ),
    Fault(
        "will-not-come", "results will not come", "host", "asked again for five minutes, then down",
        launching(UNREACHABLE), 4, GONE,
    ),
    Fault(
        "nowhere-to-ask", "SkyPilot does not say where the node is", "SkyPilot",
        "asked again for five minutes, then down", launching(sky("reach", error=("ValueError", "no address"))), 4,
        GONE,
    ),
    Fault(
        "bad-result-reap", "a bad result, then `reap`", "host", "settled; nothing is left",
        left("RUNNING", REAP, REAP, first=(result(b"\xff" * 100),)), 0, GONE, "failed",
    ),
    Fault(
        "bad-result-down", "a bad result, then `down`", "host", "taken down",
        left("RUNNING", DOWN, first=(result(b"{}"),)), 0, GONE, "cancelled",
    ),
    Fault(
        "bad-result-collect", "a bad result, client killed, then `collect`", "host", "taken down",
        left("COLLECTED", COLLECT, first=(result(b"{}"),)), 4, GONE, "failed",
    ),
)  # fmt: skip

"""A server that an agent leaves open all day keeps its size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mcp_server.agent import PID, connected

CALLS = 200
WARM = 60
"""Calls after which every tool has been used often, and the allocator has what it needs."""
MOST_GROWTH_MB = 5.0
"""Limit over 140 calls: an answer of 190 kB that each of them left behind would be 27 MB."""


@pytest.mark.slow
def test_two_hundred_calls_in_a_row(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    state = tmp_path / "state"
    state.mkdir()
    one_heap = {"MALLOC_ARENA_MAX": "1"}  # else glibc gives each thread one, which fill up for hundreds of calls
    with connected(tmp_path / "folder", state, **one_heap) as agent:
        status = Path("/proc") / (state / PID).read_text() / "status"

        def resident_mb() -> float:
            found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
            assert found
            return int(found[1]) / 1000

        last = ""
        for number in range(CALLS):
            if number == WARM:
                warm = resident_mb()
            match number % 5:
                case 0:
                    last = agent.answer(
                        "ask", workload="llama3-8b", tokens=1e9 + number, on=["lambda/gpu_8x_h100_sxm5"]
                    )["answer_id"]
                case 1:
                    agent.answer("memory", workload="llama3-8b", on="H100-SXM", seq_len=128 + number)
                case 2:
                    agent.answer("prices", accelerator="H100")
                case 3:
                    agent.answer("explain", answer_id=last)
                case _:
                    agent.error("ask", workload=f"no-such-network-{number}", tokens=1e9)
        assert resident_mb() - warm < MOST_GROWTH_MB

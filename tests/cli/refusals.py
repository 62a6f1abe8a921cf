"""Form of a refusal, and good files to spoil."""

from __future__ import annotations

from typing import Any

from planner.adapters.workspace import catalogs_dir, examples_dir

GOOD_PLAN = (examples_dir() / "dgx_station_v100.yaml").read_text(encoding="utf-8")
GOOD_RECORD = (catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json").read_text("utf-8")


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def one_error(answer: Any, *words: str) -> None:
    """Check that the command refused, once, in words that a person can act on."""
    assert answer.code == 2
    assert "Traceback" not in answer.out + answer.err
    assert answer.err.count("Error: ") == 1
    assert answer.err.startswith("Error: ")
    assert "fault of the planner" not in answer.err
    lines = answer.err.strip().splitlines()
    assert len(lines) >= 2, f"no fix: {answer.err}"
    for word in words:
        assert word in answer.err, f"{word!r} is not in: {answer.err}"


def replaced(old: str, new: str) -> str:
    assert old in GOOD_PLAN
    return GOOD_PLAN.replace(old, new, 1)


def aliases(levels: int) -> str:
    """Return a plan whose name would be 9^levels words long if every alias were written out."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n" + GOOD_PLAN.replace("name: DGX", f"name: *a{levels - 1}\nwas: DGX")

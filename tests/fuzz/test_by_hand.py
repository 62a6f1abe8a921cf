"""Odd inputs written by hand: each is refused with one error, or read as the value that a person expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli.main import run
from tests.bundled import share
from tests.fuzz.by_hand import READERS, OddInput, odd_inputs, outcome

ODD = odd_inputs()
ASK = ("ask", "pythia-410m", "--seq-len", "1024", "--write", "ask.yaml")
LIMITS = ("--own", "2xRTX-3090")
OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "ask-data": ((*ASK, *LIMITS), "--data"),
    "ask-tokens": ((*ASK, *LIMITS), "--tokens"),
    "ask-runs": ((*ASK, *LIMITS, "--tokens", "1M"), "--runs"),
    "ask-budget": ((*ASK, *LIMITS, "--tokens", "1M"), "--budget"),
    "ask-by": ((*ASK, *LIMITS, "--tokens", "1M"), "--by"),
    "ask-own": ((*ASK, "--tokens", "1M"), "--own"),
    "memory-gpus": (("memory", "gpt-305m", "--on", "H100-SXM", "--json"), "--gpus"),
}
"""Commands with the option that is typed."""


def test_the_table_is_large_and_its_ids_are_unique() -> None:
    assert len(ODD) >= 300
    assert len({odd.id for odd in ODD}) == len(ODD)
    assert {odd.kind for odd in ODD} == {*READERS, *OPTIONS}


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd.kind in READERS], ids=lambda odd: odd.id)
def test_a_file(odd: OddInput, tmp_path: Path) -> None:
    found = outcome(odd, tmp_path)
    assert odd.allows(found), f"{odd.text[:200]!r}: expected {odd.expected}, found {found!r}"


@pytest.mark.slow
@pytest.mark.parametrize("odd", [odd for odd in ODD if odd.kind in OPTIONS], ids=lambda odd: odd.id)
def test_an_option(
    odd: OddInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    share(monkeypatch)
    monkeypatch.chdir(tmp_path)
    command, option = OPTIONS[odd.kind]
    code = run([*command, f"{option}={odd.text}"])
    said = capsys.readouterr()
    assert code in (0, 2, 3), said.err
    found = "refused" if code == 2 else _value(odd.kind, said.out, tmp_path)
    assert odd.allows(found), f"{odd.text[:200]!r}: expected {odd.expected}, found {found!r}; {said.err}"


def _value(kind: str, out: str, folder: Path) -> object:
    """Return what the command understood: of memory in its answer, of ask in the plan that it wrote."""
    if kind == "memory-gpus":
        return json.loads(out)["accelerators"]
    plan: dict[str, Any] = yaml.safe_load((folder / "ask.yaml").read_text(encoding="utf-8"))
    work, campaign = plan["work"], plan.get("campaign", {})
    if kind == "ask-data":
        return [work["samples_per_epoch"], work.get("tokens_per_sample")]
    if kind == "ask-by":
        return str(campaign["deadline"])
    if kind == "ask-own":
        return plan["options"][0].get("count", 1)
    return {
        "ask-tokens": work.get("tokens"),
        "ask-runs": campaign.get("runs", 1),
        "ask-budget": campaign.get("budget_usd"),
    }[kind]

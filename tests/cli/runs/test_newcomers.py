"""Two jobs of people who never used the planner: at most three commands, and ten edited lines of the template."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

MOST_LINES = 10


@pytest.fixture
def edited(planner, tmp_path) -> Callable[[dict[str, str]], Path]:
    """Write the template (the first command) and replace its lines by their beginnings; an empty one is taken out."""

    def edit(lines: dict[str, str]) -> Path:
        path = tmp_path / "plan.yaml"
        assert planner("init", path).code == 0
        before = path.read_text("utf-8").splitlines()
        after = list(before)
        for beginning, line in lines.items():
            (place,) = (number for number, text in enumerate(after) if text.startswith(beginning))
            after[place : place + 1] = [line] if line else []
        changed = [text for text in difflib.ndiff(before, after) if text.startswith("- ")]
        assert len(changed) <= MOST_LINES
        path.write_text("\n".join(after) + "\n", "utf-8")
        return path

    return edit


def test_lora_on_two_cards_of_one_s_own(planner, edited):
    """2x RTX 3090, LoRA of Llama 3 8B, 50,000 conversations of 700 tokens, 300 USD.

    6 x 8.03e9 x 2/3 (frozen weights need no gradient) x 35e6 tokens are 1.1e18 operations; two cards of 71 TFLOPS dense
    take at least 2.2 h, and draw under a kilowatt: the electricity of a day is under 5 USD.
    """
    plan = edited(
        {
            "name:": "name: LoRA on our conversations",
            "workload:": "workload: {ref: llama3-8b, seq_len: 2048}",
            "work:": "work: {samples_per_epoch: 50000, epochs: 1, tokens_per_sample: 700}",
            "training:": "training: {precision: bf16, adapters: {rank: 16}}",
            "campaign:": "campaign: {budget_usd: 300}",
            "  - {own: RTX-4090": "",
            "  - {offer: aws/p5e.48xlarge, region: us-east-2": "",
        }
    )
    screen = planner("compare", plan, "--format", "table")
    assert screen.code == 0
    assert screen.out.splitlines()[2].startswith("Keep your 2x RTX 3090: done in ")
    option = next(
        option for option in planner("compare", plan, "--json").document["options"] if option["hold"] == "have"
    )
    assert option["fits"] is True
    assert 2.2 < option["campaign_hours"]["value"] < 24
    assert option["usd_confident"] < 5
    assert "50,000 samples of 700 tokens packed into 17,090 sequences of 2,048" in json.dumps(option)


def test_a_station_until_june_in_won(planner, edited):
    """A DGX Station, 50 experiments until June, buy or rent, in won.

    50 x 56.69 h are 118 days from the first of December, which end in March; the station stands there and draws about
    1.1 kW, so that nothing that is rented or bought costs less.
    """
    plan = edited(
        {
            "name:": "name: 50 experiments on the DGX Station",
            "workload:": "workload: {measured: seed-000-dgx-station-v100}",
            "work:": "work: {epochs: 10, samples_per_epoch: 2464256}",
            "training:": "training: {global_batch: 128}",
            "campaign:": "campaign: {runs: 50, start: 2026-12-01, deadline: 2027-06-30}",
            "  - {own: RTX-3090": "  - {site: dgx-station-v100}",
            "  - {own: RTX-4090": "  - {site: h200-x1}",
            "# currency:": "currency: {code: KRW, per_usd: 1439, as_of: 2025-12-30, source: KBS World}",
            "assumptions:": "assumptions: {tariff: kr-industrial-a2-hv}",
        }
    )
    compared, owning = (planner(command, plan, "--format", "table") for command in ("compare", "own-or-rent"))
    assert (compared.code, owning.code) == (0, 0)
    first, second = (answer.out.splitlines()[2] for answer in (compared, owning))
    assert first.startswith("Keep DGX Station, 4x V100: done by 2027-0")
    assert first.count("KRW") == 1
    assert second.startswith("Keep ")
    assert "KRW" in owning.out
    for answer in (compared, owning):
        assert len(answer.out.splitlines()) <= 30
        assert max(map(len, answer.out.splitlines())) <= 100

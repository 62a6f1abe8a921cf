"""Defaults of a plan: the format of frozen weights, the length of samples, the strategy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.refusals import one_error

TWO_3090 = {"site": "rtx3090-x10", "accelerators": 2}
ONE_H100 = {"offer": "lambda/gpu_1x_h100_sxm5"}
ACME = {"offer": "acme/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5}
CONVERSATIONS = {"samples_per_epoch": 50000, "epochs": 3, "tokens_per_sample": 700}
GIB = 2**30
FROZEN = 8_030_261_248
ADAPTERS = 32 * 16 * ((4096 + 4096) + 2 * (4096 + 1024) + (4096 + 4096))
"""32 layers, rank 16, beside query (4,096 to 4,096), key and value (to 1,024) and out (4,096 to 4,096)."""


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Path]:
    def write(option: dict[str, Any], **keys: Any) -> Path:
        data = {
            "schema_version": 1, "name": "as little as may be", "workload": {"ref": "llama3-8b", "seq_len": 2048},
            "work": CONVERSATIONS, "training": {"precision": "bf16", "adapters": {}}, "options": [option],
        }  # fmt: skip
        path = tmp_path / "plan.yaml"
        path.write_text(yaml.safe_dump(data | keys), encoding="utf-8")
        return path

    return write


@pytest.fixture
def option_of(planner: Any, plan: Callable[..., Path]) -> Callable[..., dict[str, Any]]:
    def estimate(option: dict[str, Any], **keys: Any) -> dict[str, Any]:
        (answer,) = planner("estimate", plan(option, **keys), "--json").document["options"]
        return answer

    return estimate


class TestFrozenWeights:
    @pytest.mark.parametrize(
        "training", [{}, {"precision": "bf16"}, {"precision": "fp16"}, {"framework": "HF Trainer"}]
    )
    def test_adapters_of_an_8b_network_fit_two_cards_of_24_gib(self, option_of, training) -> None:
        """8.03e9 x 2 bytes / 2^30 = 14.96 GiB of frozen weights; at 4 bytes 29.9, which fit no card of 24."""
        option = option_of(TWO_3090, training=training | {"adapters": {}, "strategy": "ddp"})
        assert option["fits"] is True
        assert option["why_not"] is None
        assert any("8,030,261,248 frozen at 16bit" in note for note in option["notes"])

    def test_fp32_keeps_four_bytes(self, option_of) -> None:
        option = option_of(TWO_3090, training={"precision": "fp32", "adapters": {}, "strategy": "ddp"})
        assert option["fits"] is False
        states = (4 * FROZEN + 16 * ADAPTERS) / GIB
        assert f"(states {states:.1f}, " in option["why_not"]

    def test_memory_of_a_plan_may_ask_for_another_precision(self, planner, plan) -> None:
        asked = ("memory", plan(ONE_H100), "--on", "H100-SXM", "--json")
        for precision, each in (("bf16", 2), ("fp32", 4)):
            document = planner(*asked, "--precision", precision).document
            assert document["states_gib"]["value"] == pytest.approx((each * FROZEN + 12 * ADAPTERS) / GIB)

    def test_memory_agrees_by_hand(self, planner) -> None:
        """Need of 2,048 tokens, all recomputed, at the loss: 32 inputs of 2 x 4,096 bytes; 12 bytes a logit and 8
        a hidden unit of the last norm; gradients of the adapters in DDP's buckets; 5 % for the allocator, a context of
        1 GiB.
        """
        asked = ("memory", "llama3-8b", "--on", "RTX-3090", "--gpus", "2", "--method", "lora", "--seq-len", "2048")
        document = planner(*asked, "--checkpointing", "full", "--micro-batch", "1", "--json").document
        states = (2 * FROZEN + 16 * ADAPTERS) / GIB
        assert states == pytest.approx(14.958 + 0.203, abs=0.001)
        assert document["states_gib"]["value"] == pytest.approx(states)
        activations = 2048 * 32 * 2 * 4096 / GIB
        assert document["activations_gib"]["value"] == pytest.approx(activations)
        logits = 2048 * (128_256 * 12 + 4096 * 8) / GIB
        assert document["total_gib"]["value"] == pytest.approx((states + activations + logits) * 1.05 + 1.0)
        source = document["states_gib"]["source"]
        adapters = "(weights 4 + gradients 4 + moments 8) = 16 bytes"
        assert source.startswith(f"2 bytes x 8,030,261,248 frozen parameters + {adapters}")
        wide = planner(*asked, "--precision", "fp32", "--json").document["states_gib"]["value"]
        assert wide == pytest.approx((4 * FROZEN + 16 * ADAPTERS) / GIB, rel=0.01)


class TestTokensPerSample:
    def test_short_samples_are_packed_and_that_is_said(self, option_of) -> None:
        """50,000 x 700 / 2,048 = 17,089.8 sequences."""
        option = option_of(ONE_H100)
        counted = "50,000 samples of 700 tokens packed into 17,090 sequences of 2,048"
        assert option["training_hours"]["source"].startswith(f"{counted} x 3 epochs / ")
        hours = 17_090 * 3 / option["throughput"]["value"] / 3600
        assert option["training_hours"]["value"] == pytest.approx(hours)
        assert any(note.startswith(counted) for note in option["notes"])

    def test_padded_samples_take_as_long_as_their_batch(self, option_of) -> None:
        """Longer than packed ones, and less than full ones."""
        how = {"precision": "bf16", "adapters": {}}
        packed = option_of(ONE_H100, training=how)
        padded = option_of(ONE_H100, training=how | {"packing": False})
        unsaid = option_of(ONE_H100, training=how, work={"samples_per_epoch": 50000, "epochs": 3})
        hours = 50_000 * 3 / padded["throughput"]["value"] / 3600
        assert padded["training_hours"]["value"] == pytest.approx(hours)
        assert packed["training_hours"]["value"] < hours < unsaid["training_hours"]["value"]
        says = "50,000 samples of 700 tokens, each padded to the longest of its batch, 2,048 at most"
        assert says in padded["notes"]
        said = "each sample is counted as 2,048 tokens: give work.tokens_per_sample if they are shorter"
        assert said in unsaid["notes"]
        assert unsaid["training_hours"]["source"].startswith(
            "50,000 samples counted as 2,048 tokens each x 3 epochs / "
        )
        assert said not in padded["notes"]

    @pytest.mark.parametrize(
        ("work", "line"),
        [
            pytest.param(
                {"samples": 50000},
                "Each sample is counted as 2,048 tokens: give work.tokens_per_sample if they are shorter.",
                id="no length",
            ),
            pytest.param(
                {"samples": 50000, "tokens_per_sample": 700},
                "50,000 samples of 700 tokens packed into 17,090 sequences of 2,048; if they are padded, write "
                "training.packing: false.",
                id="packed",
            ),
            pytest.param({"tokens": 1e7}, None, id="tokens are what they are"),
        ],
    )
    @pytest.mark.parametrize("command", ["compare", "campaign", "estimate"])
    def test_the_screen_says_how_samples_were_counted(self, planner, plan, monkeypatch, command, work, line) -> None:
        """Once, below the table, on a screen of 140 columns."""
        monkeypatch.setenv("COLUMNS", "140")
        shown = planner(command, plan(ONE_H100, work=work), "--format", "table").out
        if line is None:
            assert "sample" not in shown
        else:
            assert shown.count(line) == 1

    @pytest.mark.parametrize(
        ("work", "training", "million_tokens"),
        [
            pytest.param(CONVERSATIONS, {}, 105, id="packed"),
            pytest.param(CONVERSATIONS, {"packing": False}, 105, id="padding is not paid for"),
            pytest.param({"samples": 50000}, {}, 102.4, id="50,000 x 2,048 where no length is given"),
            pytest.param({"tokens": 1e6, "tokens_per_sample": 700}, {"packing": False}, 1, id="all tokens"),
        ],
    )
    def test_a_service_is_paid_for_real_tokens(self, option_of, work, training, million_tokens) -> None:
        """3 x 50,000 x 700 = 105 million tokens at 2.50 USD a million."""
        option = option_of(ACME, work=work, training=training)
        assert option["usd_total"]["value"] == pytest.approx(million_tokens * 2.5)
        says = [note for note in option["notes"] if note.startswith("each sample is counted as 2,048 tokens")]
        assert bool(says) is ("samples" in work)

    def test_tokens_in_padded_samples_are_more_sequences(self, option_of) -> None:
        """7e6 tokens are 10,000 samples of 700; packed they would be 3,418 sequences."""
        how = {"precision": "bf16", "adapters": {}, "packing": False}
        option = option_of(ONE_H100, training=how, work={"tokens": 7e6, "tokens_per_sample": 700})
        assert option["training_hours"]["value"] == pytest.approx(10_000 / option["throughput"]["value"] / 3600)

    def test_no_note_where_tokens_are_counted(self, option_of) -> None:
        option = option_of(ONE_H100, work={"tokens": 1e7})
        assert not any("each sample is counted" in note for note in option["notes"])

    @pytest.mark.parametrize(
        ("keys", "says"),
        [
            pytest.param(
                {"work": CONVERSATIONS | {"tokens_per_sample": 3000}},
                "work.tokens_per_sample: 3,000 is more than the sequence length, 2,048: longer samples are cut.\n"
                "Write a longer workload.seq_len, or the mean after cutting.",
                id="longer than a sequence",
            ),
            pytest.param(
                {"workload": {"ref": "resnet50"}, "training": {}},
                "work.tokens_per_sample: a sample of this workload is an image.\nLeave it out.",
                id="images",
            ),
            pytest.param(
                {"workload": {"ref": "resnet50"}, "training": {"packing": True}, "work": {"samples": 10}},
                "training.packing: a sample of this workload is an image.\nLeave it out.",
                id="packed images",
            ),
            pytest.param(
                {"workload": {"measured": "seed-000-dgx-station-v100"}, "training": {}},
                "work.tokens_per_sample: how many tokens a sample of the measured run has is not known",
                id="a run that does not say its length",
            ),
            pytest.param(
                {"work": {"tokens": 1e7}, "training": {"packing": False}},
                "training.packing: false: how many samples work.tokens are is not known.\nAdd work.tokens_per_sample",
                id="padded samples of no length",
            ),
        ],
    )
    def test_what_cannot_be_counted_is_refused(self, planner, plan, keys, says) -> None:
        one_error(planner("estimate", plan(ONE_H100, **keys)), says)

    @pytest.mark.usefixtures("owner")
    def test_a_measured_run_counts_in_sequences_of_its_own(self, planner, plan) -> None:
        """Its samples are 512 tokens: 1,000 samples of 256 are 500 of them."""
        path = plan(
            {"site": "rtx3090-x10"}, workload={"measured": "seed-003-rtx3090-ddp-x10"}, training={},
            work={"samples": 1000, "tokens_per_sample": 256},
        )  # fmt: skip
        (option,) = planner("estimate", path, "--json").document["options"]
        assert option["throughput"]["basis"] == "measured"
        assert option["training_hours"]["value"] == pytest.approx(500 / option["throughput"]["value"] / 3600)

    @pytest.mark.usefixtures("owner")
    def test_samples_are_like_those_of_the_measured_run_where_nothing_is_said(self, planner, plan) -> None:
        path = plan(
            {"site": "rtx3090-x10"},
            workload={"measured": "seed-003-rtx3090-ddp-x10"},
            training={},
            work={"samples": 1000},
        )
        document = planner("estimate", path, "--json").document
        (option,) = document["options"]
        assert option["training_hours"]["value"] == pytest.approx(1000 / option["throughput"]["value"] / 3600)
        assert document["notes"] == []

    def test_a_run_of_unknown_length_counts_samples_where_they_are_not_packed(self, planner, plan) -> None:
        path = plan(
            {"site": "dgx-station-v100"}, workload={"measured": "seed-000-dgx-station-v100"},
            training={"packing": False}, work={"samples": 1000, "tokens_per_sample": 256},
        )  # fmt: skip
        (option,) = planner("estimate", path, "--json").document["options"]
        assert option["training_hours"]["value"] == pytest.approx(1000 / option["throughput"]["value"] / 3600)


class TestStrategy:
    def test_nothing_said_is_auto(self, option_of) -> None:
        """Full training of 8 billion parameters: 16 bytes each are 120 GiB, which eight H100 hold in shares alone."""
        machine = {"offer": "lambda/gpu_8x_h100_sxm5"}
        unsaid = option_of(machine, training={"precision": "bf16"})
        auto = option_of(machine, training={"precision": "bf16", "strategy": "auto"})
        assert unsaid["fits"] is True
        assert unsaid == auto
        assert option_of(machine, training={"precision": "bf16", "strategy": "ddp"})["fits"] is False

    def test_a_network_beside_adapters_is_divided_only_where_nothing_else_fits(self, option_of) -> None:
        """Two cards of 24 GiB hold the frozen 15 GiB and samples of 2,048 tokens; of 8,192 tokens the logits alone are
        14 x 8,192 x 128,256 bytes, 13.7 GiB: with a loss in chunks they fit. Of 32,768 tokens what is kept of 32 layers
        and the layer that is computed again need 2 x 32,768 x 4,096 x 32 bytes, 8 GiB, and 8.6, and halved they fit.
        """
        short = option_of(TWO_3090)
        assert (short["strategy"], short["split"]) == ("ddp", None)
        chunked = option_of(TWO_3090, workload={"ref": "llama3-8b", "seq_len": 8192})
        assert chunked["split"] is None
        assert any("a loss in chunks alone" in note for note in chunked["notes"])
        assert chunked["chunked_loss"] is True
        assert option_of(TWO_3090, workload={"ref": "llama3-8b", "seq_len": 32_768})["split"]["tensor"] == 2

    def test_one_accelerator_takes_the_plain_one(self, option_of) -> None:
        assert option_of(ONE_H100)["strategy"] == "ddp"

    @pytest.mark.parametrize(
        ("run", "machine", "strategy"),
        [
            pytest.param(
                "seed-003-rtx3090-ddp-2n-x20", {"site": "rtx3090-x10", "nodes": 2}, "zero2", id="on two nodes",
            ),
            pytest.param(
                "seed-003-rtx3090-ddp-x10", {"site": "rtx3090-x10"}, "zero2", id="the fastest of those measured",
            ),
            pytest.param(
                "seed-003-rtx3090-zero2-x1", {"site": "rtx3090-x10", "accelerators": 1}, "ddp",
                id="the plain one, measured too",
            ),
        ],
    )  # fmt: skip
    @pytest.mark.usefixtures("owner")
    def test_a_measured_strategy_stands(self, option_of, run, machine, strategy) -> None:
        """Document 003: at ten cards ZeRO-2 trained 52.6 samples a second, DDP 47.9."""
        option = option_of(machine, workload={"measured": run}, work={"samples": 1e6}, training={})
        assert option["throughput"]["basis"] == "measured"
        assert option["strategy"] == strategy

    def test_of_an_unknown_network_the_run_that_is_carried_over_says_it(self, option_of) -> None:
        option = option_of(
            {"site": "h200-x2"}, workload={"measured": "seed-000-dgx-station-v100"}, work={"samples": 1e6}, training={}
        )
        assert option["strategy"] == "ddp"
        assert not any("strategy found by search" in note for note in option["notes"])

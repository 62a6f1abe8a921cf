"""Formats with a line for one or more steps: compared with steps timed in the same process, and the traps of each."""

from __future__ import annotations

import math

import pytest

from planner.adapters.trainer_logs.lightning import LAST_PASS
from tests.adapters.trainer_logs.conftest import part, timed_steps

LOOP = "loop"
TITAN = "[titan] 2026-01-01 00:{m:02d}:{s:02d},000 - root - INFO - "
DEEPSPEED = (
    "[2026-01-01 00:{m:02d}:{s:02d},000] [INFO] [timer.py:264:stop] epoch=0/micro_step={micro}/global_step={n}, "
)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("trl", "trl"), ("lightning", "lightning"), ("deepspeed", "deepspeed"), ("nanogpt", LOOP), ("megatron", LOOP),
        ("torchtitan", "torchtitan"), ("composer", "composer"), ("mlflow", "mlflow"), ("wandb", "wandb"),
    ],
)  # fmt: skip
def test_step_times_agree_with_those_that_the_process_timed(logs, read, name, count):
    log, seconds = read(logs / name), timed_steps(count)
    steps = [step for span in log.spans if span.other_work is None for step in range(span.begin + 1, span.end + 1)]
    expected = [seconds[step] for step in steps if step in seconds]
    assert len(expected) > 0.9 * len(steps) > 50
    found = part(log)
    # the reader leaves slow first steps out, the mean here does not: of these logs at most one span of 12
    assert found.seconds / found.steps == pytest.approx(sum(expected) / len(expected), rel=0.005)


def test_rates_of_torchtune_agree_with_the_timed_steps(logs, read, timed):
    log = read(logs / "torchtune")
    found = part(log)
    assert found.tokens / found.seconds == pytest.approx(8 * 128 / timed("torchtune"), rel=0.005)
    assert log.tokens_of_one_device


def test_tokens_of_litgpt_s_table_agree_with_the_timed_steps(logs, read, timed):
    found = part(read(logs / "litgpt_csv"))
    assert found.tokens / found.seconds == pytest.approx(8 * 128 / timed("litgpt"), rel=0.005)
    assert set(found.dropped_seconds) == {"evaluation"}


@pytest.mark.parametrize("least", ["5e-324", "-1e-300", "1e-19"])
def test_a_count_that_is_as_good_as_nothing_is_none(logs, read, tmp_path, least):
    """Twice the tokens of one device, divided by 5e-324, are not a number of devices."""
    (log,) = (logs / "litgpt_csv").rglob("metrics.csv")
    header, *rows = log.read_text().splitlines()
    column = header.split(",").index("tokens")
    cells = [row.split(",") for row in rows]
    lines = [",".join([*row[:column], least, *row[column + 1 :]]) for row in cells]
    (tmp_path / "metrics.csv").write_text("\n".join([header, *lines]) + "\n")
    assert read(tmp_path / "metrics.csv").facts.devices is None


def test_a_table_of_litgpt_s_need_not_say_at_which_step_it_was_evaluated(logs, read, tmp_path):
    (log,) = (logs / "litgpt_csv").rglob("metrics.csv")
    (tmp_path / "metrics.csv").write_text(log.read_text().replace(",step,", ",another,", 1))
    found, whole = part(read(tmp_path / "metrics.csv")), part(read(logs / "litgpt_csv"))
    assert found.seconds / found.steps == pytest.approx(whole.seconds / whole.steps, rel=0.02)


def test_litgpt_s_console_times_the_last_pass_of_a_step_alone_and_is_doubtful(logs, read, timed):
    log = read(logs / "litgpt")
    assert log.facts.accumulation == 4
    assert log.doubts == (LAST_PASS,)
    # the optimizer's step is in the last pass, and counts four times
    assert timed("litgpt") < part(log).seconds / part(log).steps < 1.15 * timed("litgpt")


def test_tokens_without_padding_are_those_that_trl_counts(logs, read):
    log = read(logs / "trl")
    found = part(log)
    # num_tokens of trainer_state.json: 6,109 after 10 steps, 121,278 after 200
    assert log.facts.padded is False
    assert found.tokens / found.steps == pytest.approx((121_278 - 6_109) / 190, rel=0.001)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("deepspeed", {"micro_batch": 64, "accumulation": 2, "global_batch": 128, "devices": 1, "strategy": "ddp"}),
        ("megatron", {"micro_batch": 4, "global_batch": 8, "seq_len": 512, "devices": 2, "precision": "bf16"}),
        ("torchtitan", {"micro_batch": 4, "global_batch": 4, "seq_len": 256, "checkpointing": "selective"}),
        ("composer", {"global_batch": 8, "micro_batch": 4}),
        ("litgpt_csv", {"micro_batch": 2, "devices": 1}),
        ("mlflow", {"micro_batch": 8, "accumulation": 2, "seq_len": 512, "precision": "bf16"}),
    ],
)
def test_facts_that_a_log_states(logs, read, name, facts):
    found = read(logs / name).facts
    assert {key: getattr(found, key) for key in facts} == facts


def nanogpt(*times: float, first: int = 0) -> str:
    return "".join(f"iter {n}: loss 3.1, time {ms:.2f}ms, mfu 1.00%\n" for n, ms in enumerate(times, start=first))


def megatron(*steps: int) -> str:
    line = (
        " iteration {n:8d}/ 5000 | consumed samples: 1 | elapsed time per iteration (ms): 500.0 | lm loss: 1.0E+01 |\n"
    )
    return "".join(line.format(n=n) for n in steps)


def titan(*points: tuple[int, int], loss: str = "3.1") -> str:
    line = TITAN + "step: {n:2}  loss:  {loss}  grad_norm:  1.0  memory:  0.50GiB(1.00%)  tps: 4,096  tflops: 1.00\n"
    return "".join(line.format(m=s // 60, s=s % 60, n=n, loss=loss) for n, s in points)


def deepspeed(*points: tuple[int, int]) -> str:
    line = DEEPSPEED + "RunningAvgSamplesPerSec=25.7, CurrSamplesPerSec=25.8, MemAllocated=4.32GB\n"
    return "".join(line.format(m=s // 60, s=s % 60, micro=4 * n, n=n) for n, s in points)


@pytest.mark.parametrize(
    ("text", "steps", "seconds"),
    [
        pytest.param(nanogpt(*[100.0] * 20), 20, 2.0, id="nanogpt"),
        pytest.param(nanogpt(5000.0, *[100.0] * 20), 20, 2.0, id="nanogpt, compiled"),
        pytest.param(
            nanogpt(*[100.0] * 10) + "step 10: train loss 3.0, val loss 3.1\n" + nanogpt(9000, *[100.0] * 9, first=10),
            19, 1.9, id="nanogpt, evaluation",
        ),
        pytest.param(nanogpt(*[100.0] * 9) + "iter 9: loss 3.1, time 10", 9, 0.9, id="nanogpt, cut"),
        pytest.param(nanogpt(*[100.0] * 9).replace("\n", "\r"), 9, 0.9, id="nanogpt, carriage returns"),
        pytest.param("".join(f"[rank0]: {line}\n" for line in nanogpt(*[100.0] * 9).splitlines()), 9, 0.9, id="a rank"),
        pytest.param(megatron(10, 20, 30), 20, 10.0, id="megatron"),
        pytest.param(megatron(1010, 1020, 1030), 20, 10.0, id="megatron, resumed"),
        pytest.param(megatron(10, 20, 30, 15, 25), 31, 15.5, id="megatron, begun again within a log"),
        pytest.param(titan((10, 10), (20, 20), (30, 30)), 20, 20.0, id="torchtitan"),
        pytest.param(titan((10, 10), (10, 10), (20, 20), (20, 20)), 10, 10.0, id="torchtitan, two ranks"),
        pytest.param(titan((10, 10), (20, 20), (30, 5), (40, 15)), 20, 20.0, id="torchtitan, clock back"),
        pytest.param(titan((510, 10), (520, 20), (505, 40), (515, 50)), 20, 20.0, id="torchtitan, resumed"),
        pytest.param(deepspeed((10, 10), (20, 20), (30, 30)), 20, 20.0, id="deepspeed"),
        pytest.param(deepspeed((10, 30), (20, 40), (30, 5), (40, 15)), 20, 20.0, id="deepspeed, clock back"),
    ],
)  # fmt: skip
def test_traps(read, write, text, steps, seconds):
    found = part(read(write(train__log=text)))
    assert found.steps == steps
    assert found.seconds == pytest.approx(seconds)


def test_a_loss_that_is_no_number_is_kept_as_such(read, write):
    assert math.isnan(read(write(train__log=titan((1, 1), (2, 2), loss="nan"))).losses[0])


def test_tokens_of_an_older_torchtitan_come_from_its_rate(read, write):
    log = read(write(train__log=titan((10, 10), (20, 20))))
    assert part(log).tokens == pytest.approx(40_960)
    assert log.tokens_of_one_device


def test_rows_of_wandb_that_are_cut_are_left_out_and_its_configuration_is_read(read, tmp_path):
    rows = "".join(f'{{"_step": {n}, "_runtime": {2 * n}, "train/loss": 2.0}}\n' for n in range(20))
    (tmp_path / "history.jsonl").write_text(rows + '{"_step": 20, "_runt', encoding="utf-8")
    config = (
        "per_device_train_batch_size: {value: 4}\ngradient_accumulation_steps: {value: 8}\npacking: {value: true}\n"
    )
    (tmp_path / "config.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "wandb-metadata.json").write_text(
        '{"gpu": "NVIDIA GeForce RTX 3090", "gpu_count": 2}', encoding="utf-8"
    )
    log = read(tmp_path)
    facts = log.facts
    assert part(log).seconds / part(log).steps == 2.0
    assert (facts.micro_batch, facts.accumulation, facts.devices, facts.padded) == (4, 8, 2, False)
    assert facts.accelerator == "NVIDIA GeForce RTX 3090"

"""Logs of Hugging Face's Trainer: step times from the console, totals from the files, and the traps of both."""

from __future__ import annotations

import json
import math

import pytest

from planner.adapters.trainer_logs.log_formats import read_logs
from planner.adapters.trainer_logs.log_source import open_source
from planner.adapters.trainer_logs.trainer_log import ONLY_TOTALS
from tests.adapters.trainer_logs.conftest import part, timed_steps


def bar(done: int, elapsed: str, total: int = 100, rate: str = "1.00it/s") -> str:
    return f"\r{100 * done // total:3d}%|####      | {done}/{total} [{elapsed}<01:00, {rate}]"


def console(*points: tuple[int, str], total: int = 100) -> str:
    return "".join(bar(done, elapsed, total) for done, elapsed in points) + "\n{'loss': '2.5', 'epoch': '0.1'}\n"


def test_the_console_times_the_steps_as_a_callback_did(logs, read, timed):
    log = read(logs / "hf_trainer")
    found = part(log)
    assert found.seconds / found.steps == pytest.approx(timed("hf_trainer"), rel=0.005)
    assert set(found.dropped_seconds) == {"evaluation", "checkpoint"}
    assert (log.facts.micro_batch, log.facts.global_batch) == (4, 8)
    assert log.doubts == ()


def test_totals_alone_are_doubtful_and_leave_evaluation_out(logs, read, timed):
    log = read(logs / "hf_trainer" / "trainer_state.json")
    assert log.total is not None
    assert log.total.seconds / log.total.steps == pytest.approx(timed("hf_trainer"), rel=0.005)
    assert log.doubts == (ONLY_TOTALS,)


def test_a_resumed_training_counts_the_steps_of_its_own_process(logs, read, timed):
    log = read(logs / "hf_resumed" / "trainer_state.json")
    assert log.total.steps == pytest.approx(100, rel=0.001)
    assert log.total.seconds / log.total.steps == pytest.approx(timed("hf_resumed"), rel=0.01)  # with its start


def test_a_resumed_training_s_console_counts_its_own_steps_too(logs, read, timed):
    log = read(logs / "hf_resumed")
    assert log.total.seconds / log.total.steps == pytest.approx(timed("hf_resumed"), rel=0.01)
    assert log.doubts == ()


def test_planned_totals_of_a_resumed_training_do_not_count_beside_its_bar(read, write):
    """transformers 4: 1,000 planned steps / 50 s of a process that did the last 100, or so."""
    bars = console((0, "00:00"), (901, "00:02"), (950, "00:26"), (1000, "00:50"), total=1000)
    totals = "{'train_runtime': 50.0, 'train_samples_per_second': 160.0, 'train_steps_per_second': 20.0, 'epoch': 1.0}"
    log = read(write(train__log=bars + totals))
    assert (part(log).steps, part(log).seconds, log.facts.global_batch) == (99, 48.0, 8)


def test_unsloth_s_banner_says_batch_and_devices(read, write):
    head = (
        "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1\n"
        "   \\\\   /|    Num examples = 210,289 | Num Epochs = 1 | Total steps = 100\n"
        "O^O/ \\_/ \\    Batch size per device = 2 | Gradient accumulation steps = 4\n"
        "\\        /    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8\n"
    )
    facts = read(write(train__log=head + console((1, "00:01"), (11, "00:11")))).facts
    assert (facts.micro_batch, facts.accumulation, facts.devices, facts.global_batch) == (2, 4, 1, 8)


@pytest.mark.parametrize("files", ["", "console.log", "trainer_log.jsonl"])
def test_a_folder_of_llama_factory_is_one_training_of_the_steps_that_a_callback_timed(logs, read, files):
    """Its clocks are of whole seconds: those of 75 steps and more are off by one of 73 s at most."""
    log = read(logs / "llamafactory" / files)
    found = part(log)
    later = [seconds for step, seconds in timed_steps("llamafactory").items() if step > 5]
    assert found.seconds / found.steps == pytest.approx(sum(later) / len(later), rel=1 / sum(later))
    assert log.skipped_lines == 0


@pytest.mark.parametrize(
    ("trainer", "files", "second"),
    [
        ("swift", "", 1.0),
        ("swift", "console.log", 1.0),
        ("swift", "logging.jsonl", 0.01),
        ("axolotl", "", 1.0),
    ],
)
def test_logs_of_ms_swift_and_axolotl_time_the_steps_as_a_callback_did(logs, read, trainer, files, second):
    """A console's clock is of whole seconds; ms-swift's file has the mean since the start with six digits."""
    found = part(read(logs / trainer / files))
    later = [seconds for step, seconds in timed_steps(trainer).items() if step > 5]
    error = second / sum(later) + 0.01  # its clock begins with the first step's loading
    assert found.seconds / found.steps == pytest.approx(sum(later) / len(later), rel=error)


@pytest.mark.parametrize("clock", [True, False])
def test_the_speed_of_ms_swift_is_the_mean_since_the_start(read, write, clock):
    """A first step of 30 s and 2 s for each later one: their mean falls, and no step takes it."""
    rows = "".join(
        json.dumps({"loss": 1.0, "global_step/max_steps": f"{n}/400", "train_speed(s/it)": round((28 + 2 * n) / n, 6)}
                   | ({"elapsed_time": f"{28 + 2 * n}s"} if clock else {})) + "\n"
        for n in range(1, 31)
    )  # fmt: skip
    found = part(read(write(logging__jsonl=rows)))
    assert found.seconds / found.steps == pytest.approx(2.0, rel=1e-5)


def test_the_totals_of_llama_factory_are_one_training(logs, read):
    log = read(logs / "llamafactory" / "all_results.json")
    assert log.total is not None
    assert log.total.seconds / log.total.steps == pytest.approx(1 / 0.952, rel=0.001)  # train_steps_per_second
    assert log.doubts == (ONLY_TOTALS,)


def test_a_job_that_max_steps_ends_is_the_samples_of_its_steps(logs, read):
    """1,200 examples for one epoch, of which 80 steps of 4 x 2 samples are done."""
    facts = read(logs / "llamafactory").facts
    assert (facts.micro_batch, facts.accumulation, facts.devices, facts.planned_samples) == (4, 2, 1, 640)


def test_llama_factory_s_own_log_times_the_steps_and_its_configuration_says_the_batch(read, tmp_path):
    line = '{{"current_steps": {n}, "total_steps": 500, "loss": 1.5, "elapsed_time": "0:{m:02d}:{s:02d}"}}\n'
    rows = "".join(line.format(n=10 * n, m=20 * n // 60, s=20 * n % 60) for n in range(1, 31))
    (tmp_path / "trainer_log.jsonl").write_text(rows, encoding="utf-8")
    config = "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\ncutoff_len: 2048\nbf16: true\n"
    (tmp_path / "training_args.yaml").write_text(config, encoding="utf-8")
    log = read(tmp_path)
    assert part(log).seconds / part(log).steps == 2.0
    assert (log.framework, log.facts.seq_len, log.facts.precision, log.facts.padded) == (
        "HF Trainer",
        2048,
        "bf16",
        True,
    )


def test_a_bar_that_jumps_to_where_it_resumes_counts_no_steps_that_were_not_done(read, write):
    path = write(train__log=console((0, "00:00"), (61, "00:02"), (70, "00:11"), (80, "00:21"), (90, "00:31")))
    found = part(read(path))
    assert (found.steps, found.seconds) == (29, 29.0)
    assert found.dropped_seconds == {"steps of an earlier process": 2.0}


def test_checkpoints_after_every_one_of_very_many_steps_are_left_in(read, write):
    many = 90_000_000
    bars = console(*((step * many // 10, f"00:0{step}") for step in range(1, 6)), total=many)
    state = {"max_steps": many, "save_steps": 1, "global_step": many, "log_history": []}
    found = part(read(write(train__log=bars, trainer_state__json=json.dumps(state))))
    assert (found.steps, found.seconds, found.dropped_seconds) == (4 * many // 10, 4.0, {})


def test_planned_totals_of_an_old_release_count_at_most_the_steps_that_were_done(read, write):
    # transformers 4: planned 1,000 steps / seconds of the last process, of a training that stopped at 400
    state = {"global_step": 400, "train_batch_size": 2, "log_history": [
        {"step": 400, "train_runtime": 100.0, "train_samples_per_second": 20.0, "train_steps_per_second": 10.0}
    ]}  # fmt: skip
    log = read(write(trainer_state__json=json.dumps(state)))
    assert (log.total.steps, log.total.seconds, log.facts.global_batch) == (400.0, 100.0, 2)


@pytest.mark.parametrize("history", ["three", 3, True, {"step": 1}, [3, "x"]])
def test_a_history_that_is_no_list_of_entries_is_none(read, write, history):
    totals = {"train_runtime": 100.0, "train_samples_per_second": 20.0, "train_steps_per_second": 10.0}
    state = {"global_step": 1000, "train_batch_size": 2, "log_history": history} | totals
    assert read(write(trainer_state__json=json.dumps(state))).total.seconds == 100.0


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        pytest.param({"train_batch_size": 4}, (4, 1, 1, 4), id="one card"),
        pytest.param(
            {"train_batch_size": 4, "gradient_accumulation_steps": 8, "total_train_batch_size": 32},
            (4, 8, 1, 32),
            id="accumulation",
        ),
        pytest.param(
            {"train_batch_size": 2, "num_devices": 4, "gradient_accumulation_steps": 3, "total_train_batch_size": 24},
            (2, 3, 4, 24),
            id="several cards",
        ),
    ],
)
def test_the_model_card_says_the_batch(read, write, card, expected):
    lines = "".join(f"- {name}: {value}\n" for name, value in card.items())
    facts = read(write(README__md=lines, train__log=console((0, "00:00"), (50, "00:50"), (99, "01:39")))).facts
    assert (facts.micro_batch, facts.accumulation, facts.devices, facts.global_batch) == expected


def test_the_lines_at_the_start_say_batch_and_devices(read, write):
    head = (
        "  Instantaneous batch size per device = 2\n"
        "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
        "  Gradient Accumulation steps = 8\n  Total optimization steps = 1,000\n"
    )
    facts = read(write(train__log=head + console((1, "00:01"), (11, "00:11"), total=1000))).facts
    assert (facts.micro_batch, facts.accumulation, facts.devices, facts.global_batch) == (2, 8, 4, 64)


def test_bars_of_evaluation_and_of_data_are_none_of_the_training(read, write):
    text = "Map: 100%|####| 9000/9000 [10:00<00:00, 15.00it/s]\n"
    text += console((0, "00:00"), (20, "00:20"), (40, "00:40"))
    text += bar(8, "00:09", total=16) + "\n{'eval_loss': '2.5', 'eval_runtime': '10'}\n"
    text += console((50, "01:00"), (70, "01:20"), (90, "01:40"))
    found = part(read(write(train__log=text)))
    assert (found.steps, found.seconds, found.dropped_seconds) == (80, 80.0, {"evaluation": 20.0})


def test_a_log_that_is_cut_within_a_line_and_a_character_is_read_to_there(read, tmp_path):
    whole = "".join(f"\r {n}%|█| {n}/100 [00:{n:02d}<01:00,  1.00it/s]" for n in range(50)).encode()
    path = tmp_path / "train.log"
    path.write_bytes(b"{'loss': '2.5', 'epoch': '0.1'}\n" + whole + "\r 50%|█".encode()[:-1])
    found = part(read(path))
    assert found.steps / found.seconds == pytest.approx(1.0)


def test_a_clock_that_goes_back_is_left_out_and_told(read, write):
    log = read(write(train__log=console((0, "00:00"), (10, "00:10"), (20, "00:20"), (25, "00:03"), (35, "00:13"))))
    found = part(log)
    assert (found.steps, found.seconds) == (30, 30.0)
    assert "goes back" in " ".join(log.doubts)


def test_colours_and_backspaces_do_not_hide_the_bar(read, write):
    text = console((0, "00:00"), (10, "00:10"), (20, "00:20")).replace("\r", "\r\x1b[32m\x1b[K")
    assert part(read(write(train__log=text))).steps == 20


def test_losses_that_are_no_numbers_are_kept_as_such(read, write):
    text = console((0, "00:00"), (10, "00:10")).replace("2.5", "nan")
    (loss,) = read(write(train__log=text)).losses
    assert math.isnan(loss)


def test_two_consoles_in_one_folder_are_two_trainings(write):
    slow = console((0, "00:00"), (10, "00:20"), (20, "00:40"))
    fast = console((0, "00:00"), (10, "00:10"), (20, "00:20"))
    found = read_logs(open_source(write(slow__log=slow, fast__log=fast)))
    assert sorted(part(log).seconds for log in found) == [20.0, 40.0]


def test_checkpoints_states_are_not_read_beside_the_last_one(logs, write, tmp_path):
    state = (logs / "hf_trainer" / "trainer_state.json").read_text(encoding="utf-8")
    (tmp_path / "checkpoint-100").mkdir()
    for folder in (tmp_path, tmp_path / "checkpoint-100"):
        (folder / "trainer_state.json").write_text(state, encoding="utf-8")
    assert len(read_logs(open_source(tmp_path))) == 1


@pytest.mark.parametrize(
    ("step_s", "steps"), [(0.05, 3000), (0.3, 600), (1.0, 400), (2.5, 200), (7.3, 200), (31.0, 150)]
)
def test_whole_seconds_of_a_bar_time_steps_of_any_length_beside_long_evaluations(read, write, step_s, steps):
    """5 s of start, 20.3 s of evaluation after every 100 steps; the bar is drawn at most ten times a second."""
    now, shown, text = 5.0, -1.0, bar(0, "00:00", steps)
    for step in range(1, steps + 1):
        now += step_s
        if now - shown > 0.1:
            whole = int(now)
            text += bar(step, f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}", steps)
            shown = now
        if step % 100 == 0:
            text += "\n{'loss': 2.1, 'epoch': 0.5}\n{'eval_loss': 2.0, 'eval_runtime': 20.0, 'epoch': 0.5}\n"
            now += 20.3
    found = part(read(write(train__log=text)))
    assert found.seconds / found.steps == pytest.approx(step_s, rel=0.005)

"""Lines as people paste them, with what a terminal, a viewer or a launcher adds; expected is what was put in."""

from __future__ import annotations

import math

import pytest

from planner.adapters.trainer_logs.cluster_trainers import PASSES
from planner.adapters.trainer_logs.csv_columns import RATES_ALONE
from planner.adapters.trainer_logs.trainer_log import ONLY_TOTALS
from planner.errors import InputError
from tests.adapters.trainer_logs.conftest import part
from tests.adapters.trainer_logs.pasted_lines import CASES, DEEPSPEED, HF, LLM_C_STEP, lines


@pytest.mark.parametrize(
    ("text", "form", "seconds", "rate", "facts"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_pasted_lines_are_read(read, write, text, form, seconds, rate, facts):
    log = read(write(train__log=text))
    found = part(log)
    assert log.format == form
    assert found.steps >= 10
    if seconds is None:
        assert log.rates_alone
        assert RATES_ALONE in log.doubts
    else:
        assert found.seconds / found.steps == pytest.approx(seconds, rel=1e-4)
    if rate is not None:
        assert found.tokens / found.seconds == pytest.approx(rate, rel=1e-3)
    assert {name: getattr(log.facts, name) for name in facts} == facts
    assert "goes back" not in " ".join(log.doubts)


@pytest.mark.parametrize(
    ("text", "steps", "seconds", "batch"),
    [
        pytest.param(
            "TrainOutput(global_step=60, training_loss=0.81, metrics={'train_runtime': 480.0, "
            "'train_samples_per_second': 1.0, 'train_steps_per_second': 0.125, 'epoch': 0.01})",
            60, 480.0, 8, id="what train() returned",
        ),
        pytest.param(
            "***** train metrics *****\n  epoch                    =        3.0\n  train_runtime            = "
            "0:36:58.55\n  train_samples_per_second =      1.474\n  train_steps_per_second   =      0.185\n",
            2218.55 * 0.185, 2218.55, 8, id="the table at the end",
        ),
        pytest.param(
            "   Batch size per device = 2 | Gradient Accumulation steps = 4\n   Total batch size = 8\n"
            "[ 22/290 02:50 < 38:04, 0.12 it/s, Epoch 0.36/5]\n",
            22, 170.0, 8, id="a notebook's bar",
        ),
        pytest.param(HF + "[60/60 05:12, Epoch 1/2]\n", 60, 312.0, None, id="a notebook's bar at its end"),
    ],
)  # fmt: skip
def test_totals_alone_are_read_and_doubtful(read, write, text, steps, seconds, batch):
    log = read(write(train__log=text))
    assert (log.total.steps, log.total.seconds) == (pytest.approx(steps), pytest.approx(seconds))
    assert log.facts.global_batch == batch
    assert log.doubts == (ONLY_TOTALS,)


def test_passes_of_an_old_deepspeed_are_a_doubt_unless_each_is_a_step(read, write):
    old = lines(DEEPSPEED + "RunningAvgSamplesPerSec=158.3, CurrSamplesPerSec=159.6")
    said = "[2022-12-20 08:26:00,101] [INFO] [config.py:957:print]   gradient_accumulation_steps .. 1\n"
    assert PASSES in read(write(train__log=old)).doubts
    assert read(write(train__log=said + old)).doubts == ()


def test_a_loss_that_is_no_number_is_kept_as_such_in_every_loop(read, write):
    log = read(write(train__log=lines(LLM_C_STEP.replace("3.208939", "    nan"))))
    assert all(math.isnan(loss) for loss in log.losses)


@pytest.mark.parametrize(
    ("text", "told", "fix"),
    [
        pytest.param(HF * 9, "nothing that times its steps", "trainer_state.json", id="losses of the Trainer alone"),
        pytest.param(
            "[batch=1/9]:\n\t Train loss/train/total: 9.1\n" * 9, "without its rates", "SpeedMonitor", id="Composer"
        ),
        pytest.param("[step=1/739328,epoch=0]\n    train/CrossEntropyLoss=3.1\n" * 9, "OLMo", "W&B", id="OLMo"),
        pytest.param(
            "Step\tTraining Loss\n1\t2.5\n2\t2.4\n", "notebook's table", "TrainOutput", id="a notebook's table"
        ),
        pytest.param("Epoch 1/10 - loss: 2.3 - accuracy: 0.1\n" * 9, "not known", "elapsed_s", id="Keras"),
        pytest.param("hello\n" * 9, "no log of a known format", "docs/importing-runs.md", id="no log"),
    ],
)
def test_what_times_no_step_is_refused_with_what_would_do(read, write, text, told, fix):
    with pytest.raises(InputError, match=told) as caught:
        read(write(train__log=text))
    assert fix in caught.value.fix

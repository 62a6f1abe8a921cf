"""Tables with named columns: which columns are understood, and what is made of them."""

from __future__ import annotations

import pytest

from planner.adapters.trainer_logs import csv_columns
from planner.adapters.trainer_logs.csv_columns import RATES_ALONE
from planner.adapters.trainer_logs.numbers_in_text import number
from planner.errors import InputError
from tests.adapters.trainer_logs.conftest import part


def table(head: str, row: str, *, steps: range = range(1, 21)) -> str:
    return head + "\n" + "".join(row.format(n=n, t=2 * n, tokens=1000 * n) + "\n" for n in steps)


@pytest.mark.parametrize(
    ("text", "seconds_per_step"),
    [
        pytest.param(table("step,elapsed_s", "{n},{t}"), 2.0, id="clock"),
        pytest.param(table("Step;Elapsed", "{n};{t}"), 2.0, id="semicolons"),
        pytest.param(table("global_step\ttime", "{n}\t{t}"), 2.0, id="tabs"),
        pytest.param(table("step,timestamp", "{n},2026-01-01T00:00:{t:02d}"), 2.0, id="dates"),
        pytest.param(table("step,timestamp", "{n},17000000{t:02d}000"), 2.0, id="milliseconds since 1970"),
        pytest.param(table("iteration,step_time,loss", "{n},0.5,3.1"), 0.5, id="step times"),
        pytest.param(table("iter,step_time_ms", "{n},250"), 0.25, id="milliseconds a step"),
        pytest.param(table("step,steps_per_second", "{n},4"), 0.25, id="rates"),
        pytest.param(table("step,elapsed_s", "{n}0,{t}"), 0.2, id="every tenth step"),
        pytest.param(table("step,elapsed_s", "{n},{t}") + "21,4", 2.0, id="cut within a line"),
        pytest.param(table("epoch,step,train/loss,time", "0,{n},,{t}\n0,{n},2.5,{t}"), 2.0, id="two rows a step"),
    ],
)
def test_columns_time_the_steps(read, write, text, seconds_per_step):
    found = part(read(write(log__csv=text)))
    assert found.seconds / found.steps == pytest.approx(seconds_per_step)


def test_tokens_since_the_start_are_counted_over_the_steps_that_count(read, write):
    found = part(read(write(log__csv=table("step,elapsed_s,tokens", "{n},{t},{tokens}"))))
    assert found.tokens / found.seconds == pytest.approx(500.0)


def test_rates_alone_are_doubtful(read, write):
    log = read(write(log__csv=table("step,tokens_per_second", "{n},1200")))
    assert part(log).tokens / part(log).seconds == pytest.approx(1200.0)
    assert log.doubts == (RATES_ALONE,)


def test_facts_are_taken_where_a_column_is_constant(read, write):
    facts = read(write(log__csv=table("step,elapsed_s,global_batch,seq_len,gpus", "{n},{t},64,2048,{n}"))).facts
    assert (facts.global_batch, facts.seq_len, facts.devices) == (64, 2048, None)


def test_the_first_slow_step_and_one_stall_are_left_out_and_told(read, write):
    seconds = [30.0] + [1.0] * 30 + [20.0] + [1.0] * 30
    rows = "".join(f"{step},{value}\n" for step, value in enumerate(seconds, start=1))
    found = part(read(write(log__csv="step,step_seconds\n" + rows)))
    assert (found.steps, found.seconds) == (60, 60.0)
    assert found.dropped_seconds == {"compile and warm-up": 30.0, "other work": 20.0}


def test_stalls_that_come_often_are_part_of_the_training(read, write):
    rows = "".join(f"{step},{8.0 if step % 5 == 0 else 1.0}\n" for step in range(1, 51))
    found = part(read(write(log__csv="step,step_seconds\n" + rows)))
    assert found.seconds == pytest.approx(40 * 1.0 + 10 * 8.0)
    assert found.stalled_share == pytest.approx(0.2)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a,b\n1,2\n", id="other columns"),
        pytest.param("step,loss\n1,2.5\n2,2.4\n", id="no time"),
        pytest.param("", id="empty"),
        pytest.param("step,elapsed_s\n1,1\n", id="one row"),
        pytest.param("step,elapsed_s\n1,nan\n2,inf\n", id="no numbers"),
    ],
)
def test_a_table_that_times_no_step_is_refused_with_what_it_needs(read, write, text):
    with pytest.raises(InputError, match="say no step") as caught:
        read(write(log__csv=text))
    assert "column step" in caught.value.fix


@pytest.mark.parametrize(("rows", "is_read"), [(10, True), (11, False)])
def test_rows_beyond_the_most_are_refused(read, write, monkeypatch, rows, is_read):
    monkeypatch.setattr(csv_columns, "MOST_ROWS", 10)
    path = write(log__csv=table("step,elapsed_s", "{n},{t}", steps=range(rows)))
    if is_read:
        assert part(read(path)).steps == rows - 1
    else:
        with pytest.raises(InputError, match="over 10 rows"):
            read(path)


def test_columns_that_say_nothing_of_the_training_are_not_kept():
    (row,) = csv_columns.table("Step,train/loss,lr\n1,2.5,0.1\n2,2.4", where="a.csv", wanted=csv_columns.is_known)
    assert row == {"Step": "1", "train/loss": "2.5"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("007", 7.0),
        ("9" * 18, 1e18),
        ("1" + "0" * 18, 1e18),
        ("9" * 19, None),
        ("1_000", None),
        ("\u0663", None),
        ("10,5", None),
        ("10,500", 10_500.0),
    ],
)
def test_whole_numbers_are_read_as_others_are(text, value):
    assert number(text) == number(f" {text}") == value

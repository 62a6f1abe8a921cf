"""A pasted log or command fills the form; another text is reported as neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import clock
from planner.errors import InputError
from planner.ui.ask.form import STARTS, Start, WeightsChoice
from planner.ui.ask.link import form_of, parameters_of
from planner.ui.ask.paste import NOTHING_UNDERSTOOD, understood
from planner.ui.ask.question import answer_form
from planner.ui.catalogs import known_catalog
from planner.use_cases.catalogs import open_catalog

FORM = STARTS[Start.TRAIN].changed(find=False)
LOG = (Path(__file__).parents[2] / "adapters" / "trainer_logs" / "logs" / "hf_trainer" / "console.log").read_text()


def test_a_command_changes_the_form_and_keeps_on_the_screen_what_it_cannot_carry() -> None:
    text = "torchrun --nproc_per_node=4 t.py --model_name Qwen/Qwen2.5-7B --load_in_4bit --lora_r 64"
    found = understood(text, FORM, open_catalog())
    assert found.changes["model"] == "qwen2.5-7b"
    assert found.changes["method"] is WeightsChoice.QLORA
    assert "machines" not in found.changes
    assert "not in the form: nproc_per_node 4, lora_r 64" in found.lines
    assert any("load_in_4bit" in line for line in found.lines)


def test_a_log_is_the_speed_of_the_machine_and_travels_in_the_link() -> None:
    form = FORM.changed(seq_len=2048)
    found = understood(LOG, form, open_catalog())
    assert "samples/s" in found.lines[0]
    with_log = form.changed(**found.changes)
    assert form_of(parameters_of(with_log)) == with_log
    answered = answer_form(with_log, known_catalog((), clock.today()), now=clock.now())
    assert any("log" in (option.throughput.source if option.throughput else "") for option in answered.document.options)


def test_what_a_log_lacks_is_asked_for_without_naming_a_file_of_ours() -> None:
    bar = "\r".join(f"{n}%|##| {n}/100 [{3 * n // 60:02d}:{3 * n % 60:02d}<05:00,  3.00s/it]" for n in range(1, 100))
    losses = "".join(f"{{'loss': 1.5, 'grad_norm': 1.0, 'learning_rate': 1e-4, 'epoch': {n / 10}}}\n" for n in range(9))
    with pytest.raises(InputError, match=r"pasted\.log") as raised:
        understood(losses + bar, FORM, open_catalog())
    assert "/tmp" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "hello", "<script>alert(1)</script>", "\x00\x01", "a: &a [*a]"])
def test_anything_else_changes_nothing(text: str) -> None:
    found = understood(text, FORM, open_catalog())
    assert found.changes == {}
    assert found.lines[0] == NOTHING_UNDERSTOOD

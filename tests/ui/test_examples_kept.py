"""Parsed plans are cached while their text is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import InputError
from planner.ui.ask.form import Form, Start
from planner.ui.scenario import example_plan, examples, plan_of_form
from planner.use_cases.plans import read_plan


def test_an_example_is_read_as_a_plan_file_is() -> None:
    for path in examples().values():
        assert example_plan(path) == read_plan(path)


def test_a_file_that_changes_is_parsed_anew(tmp_path: Path) -> None:
    [first, *_] = examples().values()
    path = tmp_path / "plan.yaml"
    path.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    before = example_plan(path)
    path.write_text(path.read_text(encoding="utf-8").replace(before.name, "Another name"), encoding="utf-8")
    assert example_plan(path).name == "Another name"


def test_a_text_that_is_no_plan_is_refused_every_time() -> None:
    form = Form(start=Start.PLAN, plan="name: nothing else")
    for _ in range(2):
        with pytest.raises(InputError, match="your plan"):
            plan_of_form(form)
